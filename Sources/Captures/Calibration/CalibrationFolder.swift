import Core
import SystemPackage

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
