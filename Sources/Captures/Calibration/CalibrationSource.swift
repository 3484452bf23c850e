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

/// A folder of calibrations by device: a file's stem is the device's id, or the name that `devices.csv` gives
/// the device.
public enum CalibrationFolder {
  /// The calibration file of a device; `nil` when the folder has none or does not exist. Of
  /// several, the first in the order `.json`, `.txt`, `.yaml`, `.yml`.
  ///
  /// Names are compared and no path is built from the id, so an id with a slash matches nothing.
  public static func file(for deviceID: String, in folder: FilePath) -> FilePath? {
    found(deviceID, in: folder, ["json", "txt", "yaml", "yml"])
  }

  /// The depth undistortion table of a device, likewise: `.lut`.
  public static func table(for deviceID: String, in folder: FilePath) -> FilePath? {
    found(deviceID, in: folder, ["lut"])
  }

  /// A device that `devices.csv` lists has the files of that name and no others.
  private static func found(
    _ deviceID: String, in folder: FilePath, _ endings: [String]
  ) -> FilePath? {
    let names: [String]
    do throws(FileError) {
      names = try FileSystem.names(in: folder)
    } catch {
      // There may be one: opening it tells why it cannot be read.
      return error.kind == .notFound
        ? nil : endings.first.map { folder.appending("\(deviceID).\($0)") }
    }
    let devices = try? CalibrationDevices(in: folder)
    let stem = devices?.lists(deviceID) == true ? devices?.name(of: deviceID) : deviceID
    guard let stem else { return nil }
    for ending in endings where names.contains("\(stem).\(ending)") {
      return folder.appending("\(stem).\(ending)")
    }
    return nil
  }
}
