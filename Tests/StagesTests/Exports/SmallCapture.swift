import FoundationEssentials
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

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

/// A capture of pictures of 16 × 12 pixels with everything that exports want, made so that the numbers of an
/// export can be told in advance, and artifacts of its pictures. What a test takes away, it sets to `nil`.
struct GridCapture {
  static let (width, height) = (16, 12)

  var colors: [ColorImage?]
  var depths: [DepthImage?]
  var poses: [Pose?]
  var cameras: [IntrinsicsRow?]
  var frames: [CaptureFrame]
  var lens = LensDistortion.none

  /// Frame k stands at (k, 2, -3); even frames look along the world's axes, odd ones are turned by 120° about
  /// its diagonal. Depth is 1 m + 100 mm × k, color (10 k, 20, 30).
  init(frames count: Int = 3) {
    colors = (0..<count).map { frame in
      let pixels = Self.width * Self.height
      return ColorImage(
        width: Self.width, height: Self.height,
        rgb: (0..<pixels).flatMap { _ in [UInt8(truncatingIfNeeded: 10 * frame), 20, 30] })
    }
    depths = (0..<count).map { frame in
      DepthImage(
        width: Self.width, height: Self.height,
        millimeters: Array(
          repeating: UInt16(1000 + 100 * frame), count: Self.width * Self.height))
    }
    poses = (0..<count).map { frame in
      Pose(
        position: [Double(frame), 2, -3],
        orientation: frame % 2 == 0
          ? Quaternion(x: 0, y: 0, z: 0, w: 1) : Quaternion(x: 0.5, y: 0.5, z: 0.5, w: 0.5))
    }
    cameras = (0..<count).map { frame in
      IntrinsicsRow(
        frame: frame, width: Self.width, height: Self.height, fx: 10, fy: 12, cx: 7.25, cy: 5.5)
    }
    frames = (0..<count).map { CaptureFrame(timestamp: Timestamp(nanoseconds: Int64($0) * 100)) }
  }

  var capture: Capture {
    var capture = Capture.made("small")
    capture.frames = frames
    capture.color = .stills(Self.width, Self.height)
    capture.poses = .poses(
      Dictionary(uniqueKeysWithValues: zip(0..., poses)).compactMapValues(\.self))
    capture.intrinsics = .present(cameras.compactMap(\.self))
    capture.alignment = DepthCalibration(registered: true, colorDistortion: lens)
    return capture
  }

  /// Runs an export on all of it.
  func export(
    _ kind: any Stage.Type, _ settings: [String: String] = [:], of other: Capture? = nil,
    hasDepth: Bool = true, cores: Int = 2
  ) throws -> Export {
    let bench = try StageBench(other ?? capture)
    var inputs = ["color": try bench.color(colors)]
    if hasDepth { inputs["aligned"] = try bench.depthPictures(depths) }
    return Export(output: try bench.run(kind, settings, inputs: inputs, cores: cores))
  }
}

/// What an export wrote.
struct Export {
  var output: StageBench.Output

  func bytes(_ name: String) throws -> [UInt8] {
    Array(try output.file(name).data())
  }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  /// The files below a folder.
  func files(_ folder: String) -> [String] {
    output.names.filter { $0.hasPrefix(folder + "/") }.map {
      String($0.dropFirst(folder.count + 1))
    }
  }

  struct Account: Decodable {
    var frames: Int
    var leftOut: [String: Int]
    var points: Int?
    var intrinsicsDeviation: Double?
    var assumed: [String]

    /// Every canonical frame once.
    var total: Int { frames + leftOut.values.reduce(0, +) }
  }

  var account: Account {
    get throws { try JSONDecoder().decode(Account.self, from: Data(try bytes("export.json"))) }
  }

  /// Canonical frames, in the order of `frames.csv`.
  var frames: [Int] {
    get throws {
      try text("frames.csv").lines.dropFirst().compactMap {
        $0.split(separator: ",").first.flatMap { Int($0) }
      }
    }
  }
}
