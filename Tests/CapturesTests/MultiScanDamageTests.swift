@testable import Captures
import FoundationEssentials
@testable import Core
import TestSupport
import Testing

@Suite("Damaged MultiScan captures")
struct MultiScanDamageTests {
  /// Evenly spread points; that metadata, lines, motion and depth may end at any byte is tested with each.
  private static let cuts = 24

  /// Every generation, and what the app leaves when it is killed or wraps its streams otherwise.
  static let captures =
    [
      "ios-lidar", "ios-lidar-2020", "ios-single", "ios-dual", "ios-stereo", "android-arcore",
      "android-plain",
    ].map {
      MadeCapture(family: "multiscan", generation: $0, frames: $0 == "android-arcore" ? 8 : 6)
    }
    + ["killed-app", "gzip-depth", "two-streams"].map {
      MadeCapture(family: "multiscan", faults: [$0])
    }

  @Test("Any file may end anywhere", arguments: captures)
  func truncation(of made: MadeCapture) throws {
    let folder = try MultiScanFolder(copying: made.folder())
    let whole = try folder.open()
    for name in try folder.names(ending: "") {
      let bytes = try folder.bytes(name)
      let points = name.contains(".zlib") || name.hasSuffix(".mp4") ? 8 : Self.cuts
      for end in stride(from: 0, to: bytes.count, by: max(1, bytes.count / points)) {
        try folder.write(name, bytes[..<end])
        guard let capture = try? folder.open() else { continue }
        // ARCore's copies are only told from frames where lines and depth both have them.
        let copies = whole.total(.trailingData, "depth")
        let most = (whole.poses.value?.rows.count ?? 0) + copies
        #expect(capture.poses.value?.rows.count ?? 0 <= most)
        check(capture)
      }
      try folder.write(name, bytes)
    }
    #expect(try folder.open().frames == whole.frames)
  }

  @Test("Any byte may be another", arguments: captures)
  func flips(in made: MadeCapture) throws {
    let folder = try MultiScanFolder(copying: made.folder())
    var random = SeededGenerator(seed: 20_201_125)
    for name in try folder.names(ending: "") {
      let bytes = try folder.bytes(name)
      guard !bytes.isEmpty else { continue }
      for _ in 0..<(name.contains(".zlib") || name.hasSuffix(".mp4") ? 6 : 12) {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          damaged[Int.random(in: 0..<bytes.count, using: &random)] =
            UInt8.random(in: .min ... .max, using: &random)
        }
        try folder.write(name, damaged)
        if let capture = try? folder.open() { check(capture) }
      }
      try folder.write(name, bytes)
    }
  }

  @Test("Files of random bytes are a capture of nothing or an error", arguments: 0..<12)
  func noise(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = try MultiScanFolder()
    let endings = [
      ".json", ".jsonl", ".depth.zlib", ".confidence.zlib", ".mp4", ".rot", ".acce", ".mag",
      ".atti", ".grav",
    ]
    for ending in endings {
      let count = Int.random(in: 0...3000, using: &random)
      try folder.write(
        "noise\(ending)", (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
    if let capture = try? folder.open() { check(capture) }
  }

  /// What holds for every capture, however damaged.
  private func check(_ capture: Capture, _ location: SourceLocation = #_sourceLocation) {
    let frames = capture.frames.count
    #expect(capture.warnings.allSatisfy { $0.count > 0 }, sourceLocation: location)
    for row in capture.poses.value?.rows ?? [] {
      #expect(row.frame < frames, sourceLocation: location)
      let q = row.pose.orientation
      let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w
      #expect(abs(length - 1) < 1e-9 && q.w >= 0, sourceLocation: location)
    }
    #expect(
      (capture.intrinsics.value ?? []).allSatisfy { $0.frame < frames }, sourceLocation: location)
    let samples = capture.imu.value?.samples ?? []
    #expect(
      samples.allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite },
      sourceLocation: location)
    if let depth = capture.depth.value {
      #expect(
        depth.firstFrame + depth.access.recordCount <= frames || depth.access.recordCount == 0,
        sourceLocation: location)
      #expect(throws: Never.self, sourceLocation: location) {
        try MultiScanSupport.decode(depth, frames: 0)
      }
    }
    if let confidence = capture.confidence.value {
      #expect(throws: Never.self, sourceLocation: location) {
        try MultiScanSupport.decode(confidence, frames: 0)
      }
    }
  }
}
