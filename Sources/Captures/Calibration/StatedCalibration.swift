import Core
import SystemPackage

/// The content of a calibration file: the cameras, and the device that they belong to.
public struct StatedCalibration: Hashable, Sendable {
  public var calibration: DepthCalibration
  /// The value of `deviceId` in the file; `nil` if it has none.
  var deviceID: String?

  init(_ calibration: DepthCalibration, deviceID: String? = nil) {
    self.calibration = calibration
    self.deviceID = deviceID.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a key names the device: `deviceId` as in ScanNet's metadata, `deviceID`, `device_id`.
  static func isDeviceKey(_ key: some StringProtocol) -> Bool {
    key.lowercased().filter { $0 != "_" } == "deviceid"
  }

  /// The device id in a file's name: a stem that is a UUID, or at least 16 hexadecimal digits, as
  /// on Android and iOS. `nil` for names like `lab` or `bench-3`.
  static func deviceID(inNameOf file: FilePath) -> String? {
    guard let stem = file.stem else { return nil }
    let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else { return nil }
    let lengths = parts.map(\.count)
    let isID =
      lengths == [8, 4, 4, 4, 12] || lengths == [8, 16] || lengths.count == 1 && lengths[0] >= 16
    return isID ? stem : nil
  }
}
