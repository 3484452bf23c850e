import Core
import SystemPackage

/// Where the IMU is beside a camera, as in a result of Kalibr (`camchain-imucam.yaml`).
public struct CameraIMUCalibration: Sendable {
  /// `T_cam_imu`: p_cam = T · p_imu, meters, for the pictures that were calibrated.
  private let cameraFromIMU: RigidTransform
  /// `timeshift_cam_imu`: time of an IMU sample = time of a picture + this; `nil` if the file states none.
  public let timeShiftNanoseconds: Int64?
  /// Width and height of the calibrated pictures; empty if the file states none.
  private let sides: [Double]
  private let file: FilePath

  /// Throws for a file that cannot be read, that has no or several cameras with `T_cam_imu`, or whose matrix is no
  /// rotation and translation.
  public init(_ path: FilePath) throws(CalibrationError) {
    let text = try CalibrationFile.text(of: path)
    file = path
    do throws(CalibrationProblem) {
      let cameras = try KalibrNode(document: text).members.filter { $0.has("T_cam_imu") }
      guard let camera = cameras.first, cameras.count == 1 else {
        throw CalibrationProblem(
          cameras.isEmpty
            ? "is missing: name the file camchain-imucam.yaml of Kalibr"
            : "is there for \(cameras.count) cameras: leave that of color alone in the file",
          key: "T_cam_imu")
      }
      cameraFromIMU = try camera.transform("T_cam_imu")
      timeShiftNanoseconds = try camera.number("timeshift_cam_imu", in: -3600...3600).flatMap {
        Timestamp(exactSeconds: $0)?.nanoseconds
      }
      sides = camera.has("resolution") ? try camera.numbers("resolution", counts: 2...2) : []
    } catch {
      throw error.error(in: path)
    }
  }

  /// The transform for pictures that were turned upright. The calibrated ones lie as the stored ones do, before the
  /// turn; where only their sides show that they were turned as well, the matrix is taken as it is.
  public func cameraFromIMU(
    clockwiseQuarterTurns turns: Int, ofStored stored: PictureSize?
  ) throws(CalibrationError) -> RigidTransform {
    guard sides.count == 2, let stored, stored.width != stored.height,
      sides[0] != sides[1], (sides[0] < sides[1]) != (stored.width < stored.height)
    else {
      return turns % 4 == 0
        ? cameraFromIMU
        : RigidTransform.turnedFromStored(clockwiseQuarterTurns: turns) * cameraFromIMU
    }
    guard turns % 2 != 0 else {
      throw CalibrationError(
        file: file, key: "resolution", value: "\(sides)",
        problem:
          "does not lie as the pictures of \(stored.width)×\(stored.height) do: calibrate with pictures of this camera"
      )
    }
    return cameraFromIMU
  }
}

/// The noise of an IMU, as in Kalibr's `imu.yaml` or in its result, where the keys are members of `imu0`.
public struct IMUNoise: Sendable {
  /// By key, such as `gyroscope_noise_density`; units as Kalibr has them, with seconds, meters and radians.
  public let densities: [String: Double]
  /// `update_rate`.
  public let hertz: Double?

  /// Throws for a file that cannot be read, that has none of the keys, or a value that is no number.
  public init(_ path: FilePath, keys: [String]) throws(CalibrationError) {
    let text = try CalibrationFile.text(of: path)
    do throws(CalibrationProblem) {
      let root = try KalibrNode(document: text)
      let imu = root.members.first { $0.path == "imu0" } ?? root
      var densities: [String: Double] = [:]
      for key in keys { densities[key] = try imu.number(key, in: 0...1e6) }
      guard !densities.isEmpty else {
        throw CalibrationProblem("is missing: name the file imu.yaml of Kalibr", key: keys.first)
      }
      self.densities = densities
      hertz = try imu.number("update_rate", in: 1...1e6)
    } catch {
      throw error.error(in: path)
    }
  }
}
