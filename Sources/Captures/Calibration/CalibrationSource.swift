import Storage
import SystemPackage

/// Which calibration is in force for a capture: a file the user names, else one chosen by the device
/// from a folder, else what the capture itself states.
public enum CalibrationSource: Hashable, Sendable {
  /// A file that was named.
  case file(FilePath)
  /// The file of the capture's device in a folder of calibrations.
  case deviceFile(FilePath, deviceID: String)
  case capture

  /// - Parameters:
  ///   - file: the file the user names, if any.
  ///   - folder: the folder of calibrations by device, if any.
  public init(file: FilePath?, folder: FilePath?, deviceID: String?) {
    // The user's own words, wherever they lead.
    for path in [file, folder] { path.map(EnclosedPaths.leaveOpen) }
    if let file {
      self = .file(file)
    } else if let folder, let deviceID,
      let found = CalibrationFolder.file(for: deviceID, in: folder)
    {
      self = .deviceFile(found, deviceID: deviceID)
    } else {
      self = .capture
    }
  }

  /// The file to read; `nil` for the capture's own values.
  public var path: FilePath? {
    switch self {
    case .file(let path), .deviceFile(let path, _): path
    case .capture: nil
    }
  }
}
