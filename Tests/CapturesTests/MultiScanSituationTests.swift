@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// What happens to healthy captures when something is missing, short or declared otherwise.
@Suite("MultiScan situations", .enabled(if: Fixtures.arePresent))
struct MultiScanSituationTests {
  static let lidar = "20201125T130512-0800_00000000-0000-4000-8000-000000000001"

  private func copy(_ name: String) throws -> MultiScanFolder {
    try MultiScanFolder(copyOf: name, of: "multiscan")
  }

  private func edit(
    _ folder: MultiScanFolder, ending: String, _ change: (String) -> String
  ) throws {
    for name in folder.names(ending: ending) {
      let text = String(decoding: try folder.bytes(of: name), as: UTF8.self)
      try folder.write(name, change(text))
    }
  }

  private func remove(_ folder: MultiScanFolder, ending: String) throws {
    for name in folder.names(ending: ending) { try folder.remove(name) }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var fixture: String
    var without: [String]
    /// `code subject` and count, beside what the whole fixture has on opening.
    var codes: [String: Int]
    var generation: String
    var testDescription: String { "\(fixture) without \(without.joined(separator: ", "))" }
  }

  static let cases = [
    Case(
      fixture: "lidar", without: [".json"],
      codes: ["missing-file metadata": 1, "frame-gap frames": 1], generation: "ios-lidar"),
    Case(
      fixture: "lidar", without: [".depth.zlib"],
      codes: ["missing-file depth": 1, "frame-gap frames": 1], generation: "ios-lidar"),
    Case(
      fixture: "lidar", without: [".mp4"],
      codes: ["missing-file color": 1, "frame-gap frames": 1], generation: "ios-lidar"),
    Case(
      fixture: "lidar", without: [".confidence.zlib", ".mp4"],
      codes: [
        "missing-file color": 1, "missing-file confidence": 1, "frame-gap frames": 1,
      ], generation: "ios-lidar"),
    Case(
      fixture: "lidar", without: [".jsonl"], codes: ["missing-file poses": 1],
      generation: "ios-lidar"),
    Case(
      fixture: "lidar", without: [".json", ".jsonl"],
      codes: ["missing-file metadata": 1, "calibration-missing color": 1],
      generation: "ios-lidar"),
    Case(
      fixture: "damaged", without: [".json", ".jsonl"],
      codes: [
        "missing-file metadata": 1, "calibration-missing color": 1, "truncated-stream depth": 1,
        "multiple-streams confidence": 1, "frame-count-mismatch color": 2,
        "frame-count-mismatch depth": 5, "depth-shorter-than-color depth": 3,
      ], generation: "ios-lidar"),
    Case(
      fixture: "damaged", without: [".json"],
      codes: [
        "missing-file metadata": 1, "truncated-stream depth": 1, "multiple-streams confidence": 1,
        "corrupt-record poses": 2, "frame-count-mismatch color": 2,
        "frame-count-mismatch depth": 5, "depth-shorter-than-color depth": 3, "pose-jump poses": 1,
      ], generation: "ios-lidar"),
    Case(
      fixture: "single", without: [".rot", ".acce", ".mag", ".atti", ".grav"],
      codes: ["imu-missing imu": 1, "frame-gap frames": 1], generation: "ios-single"),
    Case(
      fixture: "single", without: [".acce", ".mp4"],
      codes: ["missing-file acce": 1, "missing-file color": 1], generation: "ios-single"),
    Case(
      fixture: "dual", without: ["-secondary.mp4"],
      codes: [
        "missing-file color": 1, "frame-count-mismatch imu": 1, "pairing-approximate color": 6,
      ], generation: "ios-dual"),
    Case(
      fixture: "dual", without: [".json"],
      codes: [
        "missing-file metadata": 1, "calibration-missing color": 1, "frame-count-mismatch imu": 1,
        "multiple-streams color": 1, "pairing-approximate color": 6,
      ], generation: "ios-dual"),
    Case(
      fixture: "stereo", without: [".json"],
      codes: [
        "missing-file metadata": 1, "calibration-missing color": 1, "pairing-approximate color": 2,
      ], generation: "ios-stereo"),
    Case(
      fixture: "android_plain", without: [".txt"],
      codes: [
        "missing-file metadata": 1, "calibration-missing color": 1,
        "pairing-approximate color": 10,
      ], generation: "android-plain"),
    Case(
      fixture: "android", without: [".depth.zlib"],
      codes: [
        "missing-file depth": 1, "multiple-streams color": 1, "pairing-approximate color": 20,
        // The copies' times, of another clock, cannot be told without depth.
        "frame-gap frames": 1,
      ], generation: "android-arcore"),
  ]

  @Test("Missing files are named; nothing is compared with them", arguments: cases)
  func missing(_ expected: Case) throws {
    let folder = try copy(expected.fixture)
    for ending in expected.without { try remove(folder, ending: ending) }
    let capture = try folder.open()
    #expect(capture.generation == expected.generation)
    #expect(capture.warnings.countsBySubject == expected.codes)
  }

  @Test("Every stream is compared with its own declared count")
  func declared() throws {
    let folder = try copy("lidar")
    let counts = ["14": ["20", "13", "16", "10"]]
    try edit(folder, ending: ".json") { text in
      // In the file's order: depth, color, camera info, confidence.
      var parts = text.components(separatedBy: "\"number_of_frames\" : 14")
      var result = parts.removeFirst()
      for (part, count) in zip(parts, counts["14"] ?? []) {
        result += "\"number_of_frames\" : \(count)" + part
      }
      return result
    }
    let capture = try folder.open()
    #expect(capture.total(.frameCountMismatch, "depth") == 6)
    #expect(capture.total(.frameCountMismatch, "color") == 1)
    #expect(capture.total(.frameCountMismatch, "poses") == 2)
    #expect(capture.total(.frameCountMismatch, "confidence") == 4)
    #expect(capture.total(.depthShorterThanColor) == 0)
    #expect(capture.depth.value?.description.declaredFrames == 20)
  }

  @Test("More lines than frames are frames without pictures")
  func moreLines() throws {
    let folder = try copy("lidar")
    try edit(folder, ending: ".jsonl") { $0 + $0.prefix { $0 != "\n" } + "\n" }
    let capture = try folder.open()
    #expect(capture.frames.count == 15)
    #expect(capture.frames.last?.colorTimestamp == nil)
    #expect(capture.frames.last?.timestamp != nil)
    #expect(capture.total(.frameCountMismatch, "poses") == 1)
    #expect(capture.total(.timestampsUnordered, "frames") == 1)
  }

  @Test("As many even pictures as lines may be others where depth has more frames")
  func equalCounts() throws {
    let folder = try copy("wrapped")
    let name = try #require(folder.names(ending: ".depth.zlib").first)
    for frames in [8, 10] {
      try folder.write(
        name, try MultiScanSamples.deflated(MultiScanSamples.depthFrames(0..<frames)))
      let capture = try folder.open()
      let told = capture.warnings.first { $0.code == .pairingApproximate }?.message
      #expect((told?.contains("may be shifted by up to 2 frames") == true) == (frames == 10))
      #expect(capture.color.value?.description.pairing?.isDoubtful == (frames == 10))
      #expect(!capture.warnings.contains { $0.message.contains("at their places") })
    }
  }

  @Test(
    "Where times decide about the frames of pictures, pictures and lines depend on all that decides"
  )
  func partsOfTimes() throws {
    let folder = try copy("lidar")
    let files = try folder.open().files
    #expect(files[.color]?.count == 1 && files[.poses]?.count == 1)
    let name = "\(Self.lidar).jsonl"
    let lines = String(decoding: try folder.bytes(of: name), as: UTF8.self)
      .split(separator: "\n")
    try folder.write(name, (lines[..<5] + lines[7...]).joined(separator: "\n") + "\n")
    let capture = try folder.open()
    #expect(capture.poses.value?.rows.map(\.frame) == Array(0..<5) + Array(7..<14))
    for part in [CapturePart.color, .poses, .cameraSettings, .frames] {
      #expect(
        Set(capture.files[part, default: []].compactMap(\.name)).isSuperset(
          of: [".mp4", ".jsonl", ".depth.zlib"].map { Self.lidar + $0 }))
    }
  }

  @Test("A video without index fails alone and is not counted")
  func videoWithoutIndex() throws {
    let folder = try copy("lidar")
    let name = "\(Self.lidar).mp4"
    let bytes = try folder.bytes(of: name)
    for end in [0, 1, 100, bytes.count / 2] {
      try folder.write(name, bytes[..<end])
      let capture = try folder.open()
      let error = try #require(capture.color.error)
      #expect(error.file.lastComponent?.string == name)
      #expect(capture.warnings.allSatisfy { $0.subject != "color" })
      #expect(capture.total(.colorShorterThanDepth) == 0)
      #expect(capture.frames.count == 14)
      #expect(capture.frames.allSatisfy { $0.colorTimestamp == nil })
      #expect(capture.depth.value?.access.recordCount == 14)
      // The size comes from the metadata then.
      #expect(capture.intrinsics.value?.first?.width == 320)
      #expect(!capture.completeness.isWhole)
    }
  }

  @Test(
    "The color track is the one of the declared size, else the first",
    arguments: [("[240,320]", 1), ("[120,160]", 0), ("[1,1]", 0), ("[]", 0), ("[320,240]", 0)])
  func trackChoice(resolution: String, track: Int) throws {
    let folder = try copy("android")
    try edit(folder, ending: ".json") { $0.replacing("[240,320]", with: resolution) }
    let capture = try folder.open()
    let color = try #require(capture.color.value)
    guard case .video(_, let chosen) = color.source else {
      Issue.record("other access than expected")
      return
    }
    #expect(chosen == track)
    #expect(color.description.width == [160, 320][track])
    #expect(capture.total(.multipleStreams, "color") == 1)
    // What decides between tracks belongs to what color was read from.
    #expect(capture.files[.color]?.count == 2)
  }

  @Test("Without motion files a frame's time is the picture's own")
  func presentationTimes() throws {
    let folder = try copy("single")
    let paired = try folder.open()
    for ending in MultiScanSamples.motionKinds { try remove(folder, ending: ".\(ending)") }
    let capture = try folder.open()
    #expect(capture.clock.base == .video)
    #expect(paired.clock.base == .uptime)
    let (own, start) = (capture.frames, try #require(paired.frames.first?.timestamp))
    let first = try #require(own.first?.timestamp)
    for (frame, other) in zip(own, paired.frames) {
      let step = try #require(frame.timestamp) - first
      #expect(abs(step - (try #require(other.timestamp) - start)) <= 1)
    }
    #expect(capture.imu.value == nil)
  }

  @Test("The start is the earliest time of any motion file, wherever it is in the file")
  func earliest() throws {
    let folder = try copy("single")
    let before = try #require(try folder.open().frames.first?.timestamp)
    let name = try #require(folder.names(ending: ".grav").first)
    var bytes = try folder.bytes(of: name)
    // The last record gets a time one second before all others.
    let early = UInt64(before.nanoseconds - 1_000_000_000)
    bytes.replaceSubrange(
      bytes.count - 32..<bytes.count - 24,
      with: (0..<8).map { UInt8(truncatingIfNeeded: early >> (8 * $0)) })
    try folder.write(name, bytes)
    let after = try #require(try folder.open().frames.first?.timestamp)
    #expect(before - after == 1_000_000_000)
  }

  @Test("Each part depends on its own files")
  func dependencies() throws {
    let capture = try copy("lidar").open()
    func names(_ part: CapturePart) -> [String] {
      (capture.files[part] ?? []).compactMap { $0.lastComponent?.string }
        .map { String($0.dropFirst(Self.lidar.count)) }
    }
    #expect(names(.color) == [".mp4"])
    #expect(names(.depth) == [".depth.zlib", ".json"])
    #expect(names(.confidence) == [".confidence.zlib", ".json"])
    #expect(names(.poses) == [".jsonl"])
    #expect(names(.frames) == [".jsonl"])
    #expect(names(.geo) == [".json"])
    #expect(capture.files[.imu] == nil)
  }
}
