import Core
import SystemPackage

/// Where the calibration of a capture comes from: a file that the user names, else the device's
/// file in a folder, else the capture itself.
public enum CalibrationSource: Hashable, Sendable {
  /// A file that the user named.
  case file(FilePath)
  /// The file of the capture's device in a folder of calibrations.
  case deviceFile(FilePath, deviceID: String)
  case capture

  /// - Parameters:
  ///   - file: the file that the user names, if any.
  ///   - folder: the folder of calibrations by device, if any.
  public init(file: FilePath?, folder: FilePath?, deviceID: String?) {
    // Paths that the user names may lead anywhere.
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

  /// The file to read; `nil` for the values of the capture itself.
  public var path: FilePath? {
    switch self {
    case .file(let path), .deviceFile(let path, _): path
    case .capture: nil
    }
  }
}
