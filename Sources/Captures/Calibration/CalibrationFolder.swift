import Storage
import SystemPackage

/// A folder of calibrations by device: a file's stem is the device's id.
public enum CalibrationFolder {
  /// The calibration file of a device; `nil` when the folder has none or does not exist. Of
  /// several, the first in the order `.json`, `.txt`, `.yaml`, `.yml`.
  ///
  /// Names are compared and no path is built from the id, so an id with a slash matches nothing.
  public static func file(for deviceID: String, in folder: FilePath) -> FilePath? {
    let names = (try? FileSystem.names(in: folder)) ?? []
    for ending in ["json", "txt", "yaml", "yml"] where names.contains("\(deviceID).\(ending)") {
      return folder.appending("\(deviceID).\(ending)")
    }
    return nil
  }
}
