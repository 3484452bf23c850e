@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
import StageSupport
import SystemPackage
import TestSupport

@testable import Stages

/// A capture with color of 8x6 and depth of 4x3 pixels, small enough to know every byte of an export.
struct RGBDScene {
  static let colorSize = (width: 8, height: 6)
  static let depthSize = (width: 4, height: 3)

  var capture: Capture
  /// `nil` is a hole.
  var color: [ColorImage?]
  var depth: [DepthImage?]
  /// What the stage of depth says of its pictures.
  var depthRecorded: [String: JSONValue] = [:]

  /// Frame k: at 1.000000999 s + k · 1/60 s, x = k meters, fx = 10 + k.
  init(frames: Int = 3, family: CaptureFamily = .arkitScanner) {
    capture = Capture(
      id: "scene", family: family, generation: "g5", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.familyDescription = CaptureRegistry.builtIn.description(of: family)
    capture.frames = (0..<frames).map { frame in
      let time = Timestamp(nanoseconds: 1_000_000_999 + Int64(frame) * 16_666_667)
      return CaptureFrame(
        timestamp: time, colorTimestamp: time,
        depthTimestamp: time.advanced(byNanoseconds: 2_000_000))
    }
    capture.color = .present(
      ColorStream(
        source: .stills([]),
        description: StreamDescription(
          file: "v.mp4", encoding: "h264", width: Self.colorSize.width,
          height: Self.colorSize.height, frames: frames)))
    capture.depth = .lost(Self.depthSize.width, Self.depthSize.height, frames: frames)
    capture.poses = .present(Self.poses(Array(0..<frames)))
    capture.intrinsics = .present((0..<frames).map(Self.intrinsics))
    capture.alignment = DepthCalibration(registered: true, colorFromDepth: .identity)
    capture.imu = .present(Self.imu(milliseconds: [1000, 1010, 1020]))
    color = (0..<frames).map { Self.color($0) }
    depth = (0..<frames).map { Self.depth($0) }
  }

  static func poses(_ frames: [Int]) -> PoseStream {
    PoseStream(
      description: .untold,
      rows: frames.map {
        PoseStream.Row(
          frame: $0,
          pose: Pose(
            position: [Double($0), 0.5, -0.25],
            orientation: Quaternion(x: 0.5, y: 0.5, z: 0.5, w: 0.5)))
      })
  }

  static func intrinsics(_ frame: Int) -> IntrinsicsRow {
    IntrinsicsRow(
      frame: frame, width: colorSize.width, height: colorSize.height, fx: 10 + Double(frame),
      fy: 11 + Double(frame), cx: 3.5, cy: 2.5)
  }

  /// The IMU of a phone: rotation rate and gravity at every time, acceleration at every second one.
  static func imu(milliseconds: [Int64]) -> IMUStream {
    var samples: [IMUSample] = []
    for (index, time) in milliseconds.enumerated() {
      let time = Timestamp(nanoseconds: time * 1_000_000 + 700)
      samples.append(IMUSample(timestamp: time, sensor: 0, x: 0.5, y: -1, z: Double(index)))
      samples.append(IMUSample(timestamp: time, sensor: 1, x: 0, y: -9.80665, z: 0))
      if index % 2 == 0 {
        samples.append(IMUSample(timestamp: time, sensor: 2, x: 19.6133, y: 0, z: 0))
      }
    }
    return IMUStream.sorting(
      samples, sensorNames: ["rotationRate", "gravity", "userAcceleration"],
      description: .untold, convention: .coremotion
    ).stream
  }

  static func color(_ frame: Int, width: Int = 8, height: Int = 6) -> ColorImage {
    ColorImage(
      width: width, height: height,
      rgb: (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 3 &+ frame &* 40) })
  }

  static func depth(_ frame: Int, width: Int = 4, height: Int = 3) -> DepthImage {
    DepthImage(
      width: width, height: height,
      millimeters: (0..<width * height).map { UInt16($0 == 0 ? 0 : 1000 * (frame + 1) + $0) })
  }

  /// What ran, and the pictures that it read.
  struct Run {
    let output: StageBench.Output
    let color: InputArtifact
    let jpeg: InputArtifact
    let depth: InputArtifact
  }

  /// Runs an export on pictures as the pipeline would hand them to it.
  func run(
    _ kind: any Stage.Type, _ settings: [String: String] = [:], depthPort: String = "depth",
    cores: Int = 2
  ) throws -> Run {
    let bench = try StageBench(capture)
    let color = try bench.color(color)
    let jpeg = try bench.run(JPEGPictures.self, inputs: ["color": color]).artifact
    let depth = try bench.depthPictures(depth, as: "depth", recorded: depthRecorded)
    // As `connects` says.
    let takesJPEG = settings["pictures"] ?? "jpeg" == "jpeg" && settings["quality"] == nil
    var inputs = [depthPort: depth]
    inputs[takesJPEG ? "jpeg" : "color"] = takesJPEG ? jpeg : color
    let output = try bench.run(kind, settings, inputs: inputs, cores: cores)
    return Run(output: output, color: color, jpeg: jpeg, depth: depth)
  }
}
