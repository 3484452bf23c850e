@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import SystemPackage
import Testing

/// A capture of a few frames of 4×3 pixels in memory, and what an export makes of it.
struct SmallCapture {
  var capture: Capture
  /// Frames without a color picture.
  var pictureHoles: Set<Int> = []
  /// Frames with a picture on the color grid.
  var depthFrames: Set<Int> = []

  /// - Parameter times: of the frames, nanoseconds; `nil` = unknown.
  init(times: [Int64?]) {
    capture = .made("small", generation: "g4")
    capture.frames = times.map { time in
      CaptureFrame(timestamp: time.map { Timestamp(nanoseconds: $0) })
    }
    capture.color = .stills(4, 3, frames: times.count)
  }

  /// Gyroscope and accelerometer of Android's signs at these times: rates 0.5, 1, 1.5 and at rest, face up.
  mutating func addIMU(_ times: [Int64]) {
    let samples = times.flatMap { time in
      [
        IMUSample(timestamp: Timestamp(nanoseconds: time), sensor: 0, x: 0.125, y: -0.5, z: 9.75),
        IMUSample(timestamp: Timestamp(nanoseconds: time), sensor: 1, x: 0.5, y: 1, z: 1.5),
      ]
    }
    let stream = IMUStream.sorting(
      samples, sensorNames: ["accelerometer", "gyroscope"],
      description: .untold, convention: .android
    ).stream
    capture.imu = .present(stream)
  }

  /// A pose, a camera and an exposure for each of `frames`.
  mutating func addCameras(_ frames: [Int]) {
    let turned = Quaternion(x: 0.5, y: 0.5, z: 0.5, w: 0.5)
    capture.poses = .poses(
      Dictionary(
        uniqueKeysWithValues: frames.map {
          ($0, Pose(position: [Double($0), 0.25, -2], orientation: turned))
        }))
    capture.intrinsics = .present(
      frames.map { frame in
        IntrinsicsRow(
          frame: frame, width: 4, height: 3, fx: 5 + Double(frame), fy: 6, cx: 1.5, cy: 1)
      })
    capture.cameraSettings = .present(
      CameraSettingsStream(
        description: .untold,
        rows: frames.map { CameraSettingsRow(frame: $0, exposureSeconds: 0.0078125) }))
  }

  /// One picture per frame: a gradient that begins with the frame's number.
  static func picture(_ frame: Int) -> ColorImage {
    ColorImage(
      width: 4, height: 3, rgb: (0..<36).map { UInt8(truncatingIfNeeded: frame * 40 + $0 * 3) })
  }

  static func depth(_ frame: Int) -> DepthImage {
    DepthImage(
      width: 4, height: 3,
      millimeters: [0, 1, 13_107, 13_108, 65_535, 1000, 2000, 3000, 4000, 5000, 6000]
        + [UInt16(frame)])
  }

  /// Runs the export with what its ports want.
  func run(
    _ kind: any ExportStage.Type, _ settings: [String: String] = [:], cores: Int = 2
  ) throws -> StageBench.Output {
    let bench = try StageBench(capture)
    let frames = capture.frames.indices
    let color = try bench.color(frames.map { pictureHoles.contains($0) ? nil : Self.picture($0) })
    var inputs = ["color": color]
    inputs["gray"] = try bench.run(
      GrayPictures.self, inputs: ["color": color], cores: cores
    ).artifact
    if !depthFrames.isEmpty {
      inputs["aligned"] = try bench.depthPictures(
        frames.map { depthFrames.contains($0) ? Self.depth($0) : nil })
    }
    return try bench.run(kind, settings, inputs: inputs, cores: cores)
  }
}

extension StageBench.Output {
  func text(_ name: String) throws -> String {
    try file(name).text()
  }

  /// All text files under headings: for comparing byte by byte.
  func texts(without left: Set<String> = []) throws -> String {
    try names.sorted().filter { !$0.hasSuffix(".png") && !left.contains($0) }
      .map { "== \($0)\n" + (try text($0)) }.joined()
  }

  /// Path and digest of every file.
  var digests: [String] {
    artifact.record.outputs.map { "\($0.path) \($0.sha256)" }.sorted()
  }

  /// Frames of frames.csv, and the counts of export.json.
  func account() throws -> (frames: [Int], leftOut: [String: Int]) {
    let rows = try text("frames.csv").lines.dropFirst()
    let frames = rows.compactMap { row in row.split(separator: ",").first.flatMap { Int($0) } }
    struct Document: Decodable {
      var leftOut: [String: Int]
    }
    let json = try file("export.json").data()
    return (frames, try JSONDecoder().decode(Document.self, from: json).leftOut)
  }
}
