@testable import Captures
@testable import Core
import FoundationEssentials
import SystemPackage
import Testing

@Suite("What a warning weighs")
struct WarningSeverityTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var code: WarningCode
    var count: Int
    var extent: WarningExtent
    var expected: WarningSeverity
    var testDescription: String { "\(code.rawValue) ×\(count) of \(extent): \(expected)" }

    init(
      _ code: WarningCode, _ count: Int, _ extent: WarningExtent, _ expected: WarningSeverity
    ) {
      self.code = code
      self.count = count
      self.extent = extent
      self.expected = expected
    }
  }

  static func outside(_ before: Int, _ after: Int, of frames: Int, _ rateHz: Double?)
    -> WarningExtent
  {
    var outside = FramesOutside(frames: frames, rateHz: rateHz)
    outside.before = before
    outside.after = after
    return .ends(outside)
  }

  static let cases = [
    Case(.frameGap, 1, .size(100), .note), Case(.frameGap, 1, .size(99), .warning),
    Case(.frameGap, 43, .size(4325), .note), Case(.frameGap, 44, .size(4325), .warning),
    Case(.frameGap, 1, .unknown, .warning),
    Case(.timestampsUnordered, 1, .size(1000), .note),
    Case(.timestampsUnordered, 1, .size(999), .warning),
    Case(.timestampsUnordered, 721, .size(720_000), .warning),
    Case(.imuOutsideFrames, 60, outside(30, 30, of: 300, 30), .note),
    Case(.imuOutsideFrames, 31, outside(31, 0, of: 300, 30), .warning),
    Case(.imuOutsideFrames, 31, outside(0, 31, of: 300, 30), .warning),
    // 29.97 pictures a second: thirty of them.
    Case(.imuOutsideFrames, 30, outside(30, 0, of: 300, 29.97), .note),
    Case(.imuOutsideFrames, 5, outside(0, 5, of: 300, nil), .warning),
    // No frame has a sample: nothing of that is handled without loss.
    Case(.imuOutsideFrames, 20, outside(20, 0, of: 20, 30), .warning),
    Case(.unknownKey, 1_000_000, .unknown, .note),
    Case(.timestampsDuplicate, 1, .size(1_000_000), .warning),
    Case(.imuGap, 1, .size(1_000_000), .warning),
    Case(.corruptRecord, 1, .size(1_000_000), .warning),
  ]

  @Test("What ordinary recordings show, up to its bound, is a note", arguments: cases)
  func rule(_ example: Case) {
    let warning = CaptureWarning(
      example.code, "x", count: example.count, of: example.extent, "message")
    #expect(warning.severity == example.expected)
  }

  @Test("Counts that add up are weighed by their sum")
  func sums() {
    let collector = WarningCollector()
    collector.add(.frameGap, "frames", count: 1, of: .size(150), "gaps")
    #expect(collector.warnings.map(\.severity) == [.note])
    collector.add(.frameGap, "frames", count: 1, of: .size(150), "gaps")
    #expect(collector.warnings.map(\.severity) == [.warning])
    #expect(collector.warnings.map(\.count) == [2])
    collector.add(.imuGap, "imu", count: .max, "gaps")
    collector.add(.imuGap, "imu", count: 1, "gaps")
    #expect(collector.warnings.last?.count == .max)
  }

  @Test("Documents say it")
  func coding() throws {
    let note = CaptureWarning(.unknownKey, "x", "message")
    let text = String(decoding: try JSONEncoder().encode(note), as: UTF8.self)
    #expect(text.contains("\"severity\":\"note\""))
    #expect(try JSONDecoder().decode(CaptureWarning.self, from: Data(text.utf8)) == note)
  }

  @Test("Merged lists have their notes at the end")
  func order() {
    let note = CaptureWarning(.unknownKey, "a", "m")
    let warning = CaptureWarning(.imuGap, "b", "m")
    let merged = [note, warning].merged(with: [CaptureWarning(.trailingData, "c", "m"), warning])
    #expect(merged.map(\.code) == [.imuGap, .trailingData, .unknownKey])
    #expect(merged.withoutNotes.map(\.code) == [.imuGap, .trailingData])
  }

  @Test("A phone's IMU that starts late and ends early: each end counts by itself")
  func ends() throws {
    func severity(firstFrame: Int, lastFrame: Int) throws -> WarningSeverity? {
      let scratch = try VISLAMScratch()
      // 120 frames at 30 Hz; the samples cover the frames given, and a little more.
      let times = stride(
        from: Int64(firstFrame) * 33_333_333 - 1, to: Int64(lastFrame) * 33_333_333 + 10_000_001,
        by: 10_000_000)
      try scratch.write(
        VISLAMTables.imuHeader
          + times.map { "\(VISLAMTables.start + $0),gyroscope,0,0,0\n" }.joined(),
        to: "imu_data.csv")
      try scratch.write(
        VISLAMTables.frameHeader + VISLAMTables.frames((0..<120).map(Double.init)),
        to: "frame_metadata.csv")
      return try scratch.open().warnings.first { $0.code == .imuOutsideFrames }?.severity
    }
    #expect(try severity(firstFrame: 0, lastFrame: 119) == nil)
    #expect(try severity(firstFrame: 30, lastFrame: 90) == .note)
    #expect(try severity(firstFrame: 32, lastFrame: 119) == .warning)
    #expect(try severity(firstFrame: 0, lastFrame: 87) == .warning)
  }

  @Test(
    "A real scan of an iPad has no warnings but what it lacks",
    .enabled(
      if: FileManager.default.fileExists(atPath: "../shared/real/scan3d/capture"),
      "real recordings are not part of the project"))
  func real() throws {
    let capture = try ARKitScannerReader.open(
      Recognition(
        family: .arkitScanner, certainty: .certain, folder: "../shared/real/scan3d/capture",
        id: "capture", reason: "test"))
    // Its motion samples were not published: `imu.json` is `{}`.
    #expect(capture.warnings.withoutNotes.map(\.code) == [.imuMissing])
  }
}

@Suite("How many warnings there are")
struct WarningCountTests {
  @Test("One code at two subjects is one kind; counts are occurrences; notes count nowhere")
  func counts() {
    let warnings = [
      CaptureWarning(.corruptRecord, "depth", count: 3, ""),
      CaptureWarning(.corruptRecord, "color", count: 1, ""),
      CaptureWarning(.emptyRecord, "depth", count: 7, ""),
      CaptureWarning(.unknownKey, "txt", count: 9, ""),
    ]
    #expect(warnings.counted.words == "2 kinds, 11 occurrences")
    #expect(WarningCount([warnings[1]]).sentence == "1 kind of warning, 1 occurrence")
    #expect(WarningCount([warnings[3]]).isNone)
    #expect(WarningCount([CaptureWarning(.emptyRecord, "x", count: .max, "")]).occurrences == .max)
  }
}
