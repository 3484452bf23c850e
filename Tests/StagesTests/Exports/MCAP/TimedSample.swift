@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
@testable import Stages
import StageSupport
import SystemPackage
import TestSupport

/// A capture made of tables, with pictures that hold no picture: for exports that take files as they are.
struct TimedSample {
  /// Nanoseconds of the frames; `nil` = unknown.
  var times: [Int64?] = [1000, 2000, 3000]
  var depthTimes: [Int64?] = []
  /// Frames without a picture, pose, depth.
  var noPicture: Set<Int> = []
  var poses: Set<Int> = []
  var depths: Set<Int> = []
  var hasIntrinsics = false
  /// Nanoseconds of gyroscope and accelerometer.
  var gyroscope: [Int64] = []
  var accelerometer: [Int64] = []
  var convention = IMUConvention.android
  var quarterTurns = 0
  var hasColor = true
  var positions: [GeoPosition] = []

  static let (width, height) = (4, 2)

  static func pose(_ frame: Int) -> Pose {
    Pose(
      position: [Double(frame), 0.5, -2],
      orientation: Quaternion(x: 0.1, y: -0.2, z: 0.3, w: 0.9))
  }

  /// The file of a frame's picture: no PNG, so that nothing that decodes it can be right.
  static func file(_ frame: Int) -> [UInt8] { [0x89, 0x50, UInt8(truncatingIfNeeded: frame)] }

  static func depth(_ frame: Int) -> DepthImage {
    DepthImage(
      width: width, height: height,
      millimeters: (0..<width * height).map { (pixel: Int) -> UInt16 in
        UInt16(1000 * frame + pixel)
      })
  }

  var capture: Capture {
    var capture = Capture.made("sample")
    capture.frames = times.indices.map { frame in
      CaptureFrame(
        timestamp: times[frame].map { Timestamp(nanoseconds: $0) },
        depthTimestamp: depthTimes.indices.contains(frame)
          ? depthTimes[frame].map { Timestamp(nanoseconds: $0) } : nil)
    }
    if hasColor {
      capture.color = .stills(Self.width, Self.height, frames: times.count, turns: quarterTurns)
    }
    if !poses.isEmpty {
      capture.poses = .poses(Dictionary(uniqueKeysWithValues: poses.map { ($0, Self.pose($0)) }))
    }
    if hasIntrinsics {
      capture.intrinsics = .present(
        times.indices.map {
          IntrinsicsRow(
            frame: $0, width: Self.width, height: Self.height, fx: 3, fy: 3, cx: 1.5, cy: 0.5)
        })
    }
    if !gyroscope.isEmpty || !accelerometer.isEmpty { capture.imu = .present(imu) }
    if !positions.isEmpty {
      capture.geo = .present(
        GeoStream(
          description: .untold,
          track: GeoTrack(positions: positions), coverage: .everyFrame))
    }
    return capture
  }

  private var imu: IMUStream {
    func samples(_ times: [Int64], _ sensor: Int, _ z: Double) -> [IMUSample] {
      times.map {
        IMUSample(timestamp: Timestamp(nanoseconds: $0), sensor: sensor, x: 0, y: 0.5, z: z)
      }
    }
    return IMUStream.sorting(
      samples(gyroscope, 0, 0.25) + samples(accelerometer, 1, 9.8),
      sensorNames: ["gyroscope", "accelerometer"],
      description: .untold, convention: convention
    ).stream
  }

  /// Runs an export on it.
  func export(
    _ kind: any Stage.Type, _ settings: [String: String] = [:], cores: Int = 2
  ) throws -> StageBench.Output {
    let bench = try StageBench(capture)
    var inputs: [String: InputArtifact] = [:]
    if hasColor {
      inputs["color"] = try bench.files(
        times.indices.map { noPicture.contains($0) ? nil : Self.file($0) }, as: "color")
    }
    if !depths.isEmpty {
      inputs["aligned"] = try bench.depthPictures(
        (0...(depths.max() ?? 0)).map { depths.contains($0) ? Self.depth($0) : nil })
    }
    return try bench.run(kind, settings, inputs: inputs, cores: cores)
  }
}

extension StageBench.Output {
  /// The bytes of a file of the artifact.
  func bytes(_ name: String) throws -> [UInt8] {
    let folder = try HeldFolder.following(file(name).removingLastComponent())
    return try folder.contents(of: file(name).lastComponent?.string ?? "") ?? []
  }
}
