@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// Small files of synthetic captures, texts cut at every byte, pictures at every third, in `make test` at every fifth of
/// these: opening and decoding come to an end, and nothing that is told is wrong.
@Suite("Synthetic captures of one file per picture: files that are cut")
struct SyntheticTruncationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String
    var file: String
    /// Bytes between two lengths.
    var step = 1
    var testDescription: String { "\(generation) \(file)" }
  }

  static let rows = [
    Row(family: "stray-scanner", generation: "per-frame-intrinsics", file: "odometry.csv"),
    Row(family: "stray-scanner", generation: "per-frame-intrinsics", file: "imu.csv"),
    Row(family: "stray-scanner", generation: "raw-imu", file: "camera_matrix.csv"),
    Row(family: "stray-scanner", generation: "png", file: "depth/000001.png", step: 3),
    Row(family: "stray-scanner", generation: "png", file: "confidence/000001.png", step: 3),
    Row(family: "stray-scanner", generation: "npy", file: "depth/000001.npy", step: 3),
    Row(family: "3d-scanner-app", generation: "lidar", file: "frame_00001.json"),
    Row(family: "3d-scanner-app", generation: "lidar", file: "info.json"),
    Row(family: "3d-scanner-app", generation: "lidar", file: "depth_00001.png", step: 3),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/metadata.json"),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/depth/1.exr", step: 3),
  ]

  /// What a capture says, for comparison.
  private struct Content {
    var poses: [Int: PoseStream.Row]
    var times: [Int: Int64]
    var samples: [IMUSample]
    var intrinsics: [IntrinsicsRow]
    var depth: [Int: [UInt16]]

    init(_ capture: Capture) throws {
      poses = Dictionary(
        (capture.poses.value?.rows ?? []).map { ($0.frame, $0) }
      ) { first, _ in first }
      times = [:]
      for (frame, content) in capture.frames.enumerated() {
        times[frame] = content.timestamp?.nanoseconds
      }
      samples = capture.imu.value?.samples ?? []
      intrinsics = capture.intrinsics.value ?? []
      depth = try capture.depth.value?.pictures() ?? [:]
    }
  }

  private static func open(_ path: FilePath) throws -> Content? {
    let found = CaptureFinder(.builtIn).find(path).captures.first
    guard let found, let capture = try? CaptureRegistry.builtIn.open(found) else { return nil }
    return try Content(capture)
  }

  @Test("What a cut file still tells is what the whole one tells", arguments: rows)
  func cut(_ row: Row) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    (options.frames, options.width, options.height) = (4, 64, 48)
    (options.depthWidth, options.depthHeight) = (32, 24)
    (options.generation, options.id, options.truthPictures) = (row.generation, "a", 0)
    let made = try SyntheticFamilies.write(row.family, options).folder
    let whole = try #require(try Self.open(made))
    try #require(whole.depth.count == 4 && whole.poses.count == 4 && whole.times.count == 4)
    let file = made.pushing(FilePath(row.file))
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: file.string)))
    for length in Rounds.every(5, of: Array(stride(from: 0, to: bytes.count, by: row.step))) {
      try Data(bytes[..<length]).write(to: URL(filePath: file.string))
      guard let cut = try Self.open(made) else { continue }
      #expect(cut.poses.allSatisfy { whole.poses[$0.key] == $0.value }, "\(length)")
      #expect(cut.times.allSatisfy { whole.times[$0.key] == $0.value }, "\(length)")
      #expect(cut.samples.elementsEqual(whole.samples.prefix(cut.samples.count)), "\(length)")
      // A row that lost its own has those of the camera matrix.
      #expect(
        row.file == "odometry.csv" || cut.intrinsics.allSatisfy(whole.intrinsics.contains),
        "\(length)")
      #expect(cut.depth.allSatisfy { whole.depth[$0.key] == $0.value }, "\(length)")
    }
  }
}
