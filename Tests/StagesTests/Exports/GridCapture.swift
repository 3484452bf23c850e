@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
import TestSupport
import SystemPackage

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
