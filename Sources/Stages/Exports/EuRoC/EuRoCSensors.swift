import Captures
import Core
import Engine
import Processing

/// Writes the YAML files of the ASL format. `T_BS` maps **sensor to body**; the body is the IMU.
struct EuRoCSensors: Sendable {
  private let source: ExportSource
  private let times: [Timestamp]
  private let inertial: InertialExport
  /// One camera for all frames; `nil` without intrinsics.
  let median: CommonCamera?

  init(
    _ source: ExportSource, _ frames: [Int], _ times: [Timestamp], _ inertial: InertialExport
  ) {
    self.source = source
    self.times = times
    self.inertial = inertial
    median = CommonCamera(source, frames)
  }

  /// Whether the lens has coefficients that the model cannot store.
  var hasFurtherDistortion: Bool {
    guard median != nil, let lens = source.cameras.distortion else { return false }
    return lens.openCVOrder.dropFirst(4).contains { $0 != 0 }
  }

  func body() throws -> String {
    try YAMLText.document([
      ("comment", .text("the body frame is that of the IMU, imu0"))
    ])
  }

  func camera() throws -> String {
    let turns = source.context.capture.color.value?.clockwiseQuarterTurns ?? 0
    var pairs: [(String, YAMLText.Value)] = [
      ("sensor_type", .text("camera")),
      ("comment", .text("back camera of a phone, lever arm not measured")),
      ("T_BS", Self.matrix(PhoneAxes.imuFromCamera(clockwiseQuarterTurns: turns))),
    ]
    if let rate = InertialExport.hertz(times) { pairs.append(("rate_hz", .integer(rate))) }
    let size = median.map { ($0.camera.width, $0.camera.height) }
    if let width = source.width ?? size?.0, let height = source.height ?? size?.1 {
      pairs.append(("resolution", .integers([width, height])))
    }
    if let camera = median?.camera {
      let lens = source.cameras.distortion ?? .none
      pairs += [
        ("camera_model", .text("pinhole")),
        ("intrinsics", .numbers([camera.fx, camera.fy, camera.cx, camera.cy])),
        ("distortion_model", .text("radial-tangential")),
        ("distortion_coefficients", .numbers([lens.k1, lens.k2, lens.p1, lens.p2])),
      ]
    }
    return try YAMLText.document(pairs)
  }

  func imu(_ parameters: ParameterValues) throws -> String {
    var pairs: [(String, YAMLText.Value)] = [
      ("sensor_type", .text("imu")),
      ("comment", .text("gyroscope and accelerometer of a phone, specific force")),
      ("T_BS", Self.matrix(.identity)),
    ]
    if let rate = inertial.hertz { pairs.append(("rate_hz", .integer(rate))) }
    return try YAMLText.document(pairs + InertialExport.noise(parameters))
  }

  private static func matrix(_ transform: RigidTransform) -> YAMLText.Value {
    .mapping([
      ("cols", .integer(4)), ("rows", .integer(4)), ("data", .numbers(transform.rowMajor)),
    ])
  }
}
