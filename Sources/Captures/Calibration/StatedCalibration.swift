import Geometry
import SystemPackage

/// A calibration file as it was read: the cameras, and the device that it says it was made with.
public struct StatedCalibration: Hashable, Sendable {
  public var calibration: DepthCalibration
  /// The value of `deviceId` in the file; `nil`: it names none.
  public var deviceID: String?

  public init(_ calibration: DepthCalibration, deviceID: String? = nil) {
    self.calibration = calibration
    self.deviceID = deviceID.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a key names the device: `deviceId` as ScanNet's metadata spell it, `deviceID`, `device_id`.
  static func isDeviceKey(_ key: some StringProtocol) -> Bool {
    key.lowercased().filter { $0 != "_" } == "deviceid"
  }

  /// The device that the name of a file is: a stem of the form of a UUID, or of 16 hexadecimal digits and
  /// more as Android and iOS have them. A name like `lab` or `bench-3` names none.
  public static func deviceID(inNameOf file: FilePath) -> String? {
    guard let stem = file.stem else { return nil }
    let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else { return nil }
    let lengths = parts.map(\.count)
    let isID =
      lengths == [8, 4, 4, 4, 12] || lengths == [8, 16] || lengths.count == 1 && lengths[0] >= 16
    return isID ? stem : nil
  }
}
