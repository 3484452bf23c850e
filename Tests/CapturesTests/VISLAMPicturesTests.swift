import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

@Suite("VI-SLAM: what pictures there are", .enabled(if: Fixtures.arePresent))
struct VISLAMPicturesTests {
  /// A copy of a fixture that a test may damage.
  private func scratch(_ name: String) throws -> VISLAMScratch {
    try VISLAMScratch(copyOf: name, of: "vi-slam")
  }

  @Test("Without a video rows and IMU go on")
  func noVideo() throws {
    let scratch = try scratch("healthy")
    try scratch.remove("video.mp4")
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 1])
    #expect(capture.frames.count == 60)
    #expect(capture.frames.allSatisfy { $0.colorTimestamp == nil })
    #expect(capture.imu.value != nil)
    #expect(capture.completeness.missing.count == 1)
    guard case .absent = capture.color else {
      Issue.record("color must be absent: \(capture.color)")
      return
    }
  }

  @Test("A video without its index fails the color, with file and offset; the tables go on")
  func videoWithoutIndex() throws {
    let scratch = try scratch("healthy")
    var bytes = try scratch.bytes(of: "video.mp4")
    let index = try #require(bytes.firstRange(of: Array("moov".utf8)))
    bytes.replaceSubrange(index, with: Array("wxyz".utf8))
    try scratch.write(bytes, to: "video.mp4")
    let capture = try scratch.open()
    let error = try #require(capture.color.error)
    #expect(error.file.string.hasSuffix("video.mp4"))
    #expect(error.byteOffset != nil)
    #expect(capture.warningCounts.isEmpty)
    #expect(capture.frames.count == 60)
    #expect(!capture.completeness.isWhole)
  }

  @Test(
    "Without a frame table the frames are the pictures at the video's times",
    arguments: [nil, "", "frame_number,timestamp_ns\n"])
  func noRows(text: String?) throws {
    let scratch = try scratch("healthy")
    if let text {
      try scratch.write(text, to: "frame_metadata.csv")
    } else {
      try scratch.remove("frame_metadata.csv")
    }
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 1, "timestamps-missing": 60])
    #expect(capture.frames.count == 60)
    #expect(capture.frames.first?.timestamp == Timestamp(nanoseconds: 0))
    #expect(capture.frames.first?.colorTimestamp == Timestamp(nanoseconds: 0))
    #expect(capture.clock.base == .video)
    #expect(!capture.framesShareIMUClock)
    #expect(capture.imu.value != nil)
    #expect(capture.framesProblem == nil)
  }

  @Test("A frame table without time column fails what needs it; pictures and samples are there")
  func unreadableRows() throws {
    let scratch = try scratch("healthy")
    try scratch.write("frame_number,time\n0,1\n", to: "frame_metadata.csv")
    let capture = try scratch.open()
    let problem = try #require(capture.framesProblem)
    #expect(problem.description.contains("frame_metadata.csv"))
    #expect(problem.description.contains("`timestamp_ns`"))
    #expect(capture.cameraSettings.error == problem)
    #expect(capture.color.value?.description.frames == 60)
    #expect(capture.imu.value != nil)
    #expect(capture.warningCounts.isEmpty)
  }

  @Test("Of several videos the one called video is used, else the one nearest to the rows")
  func severalVideos() throws {
    let scratch = try scratch("healthy")
    let other = try #require(Fixtures.cases(of: "vi-slam").first { $0.name == "no-z" })
    let short = try [UInt8](other.bytes(of: "capture/video.mp4"))
    try scratch.write(short, to: "a.mp4")
    try scratch.write([1, 2, 3], to: "broken.MOV")
    let named = try scratch.open()
    #expect(named.color.value?.description.file == "video.mp4")
    #expect(named.warningCounts == ["multiple-streams": 2])
    try scratch.write(try scratch.bytes(of: "video.mp4"), to: "z.m4v")
    try scratch.remove("video.mp4")
    let nearest = try scratch.open()
    #expect(nearest.color.value?.description.file == "z.m4v")
    #expect(nearest.warningCounts == ["multiple-streams": 2])
  }

  @Test("Rows that state another size than the video are counted")
  func sizes() throws {
    let scratch = try scratch("healthy")
    let text = try scratch.text(of: "frame_metadata.csv")
    let lines = text.split(separator: "\n")
    let changed = lines.enumerated().map { index, line in
      index % 20 == 3 ? String(line).replacing("320,180", with: "180,320") : String(line)
    }
    try scratch.write(changed.joined(separator: "\n") + "\n", to: "frame_metadata.csv")
    #expect(try scratch.open().warningCounts == ["size-mismatch": 3])
  }

  @Test("A picture without row becomes a frame of its own; its row may come back")
  func picturesWithoutRow() throws {
    let scratch = try scratch("dropped")
    let lines = try scratch.text(of: "frame_metadata.csv").split(separator: "\n")
    // Lines 10 and 11 hold frames with pictures.
    let kept = lines.indices.filter { $0 != 10 && $0 != 11 }.map { String(lines[$0]) }
    try scratch.write(kept.joined(separator: "\n") + "\n", to: "frame_metadata.csv")
    let capture = try scratch.open()
    #expect(capture.frames.count == 72)
    #expect(capture.warningCounts["frame-count-mismatch"] == 6)
    #expect(capture.warningCounts["timestamps-missing"] == 2)
    let times = capture.frames.compactMap(\.timestamp)
    #expect(times == times.sorted())
  }

  @Test("Stills that rows name: outside, missing and unused ones are reported")
  func stills() throws {
    let scratch = try scratch("sibling-wide")
    try scratch.remove("frames/frame_000003.png")
    let text = try scratch.text(of: "frame_metadata.csv")
      .replacing("frames/frame_000005.png", with: "../outside.png")
      .replacing("frames/frame_000006.png", with: "/etc/hostname")
      .replacing("frames/frame_000007.png", with: "frame_000007.png")
      .replacing("frames/frame_000008.png", with: "frames/../frames/frame_000008.png")
    try scratch.write(text, to: "frame_metadata.csv")
    try scratch.write([0], to: "../outside.png")
    try scratch.link("frames/link.png", to: scratch.outer.appending("outside.png"))
    try scratch.write(
      text.replacing("frames/frame_000009.png", with: "frames/link.png"), to: "frame_metadata.csv")
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 1, "path-outside-capture": 3])
    #expect(capture.color.value?.frameOfPicture == [0, 1, 2, 4, 7, 8, 10, 11])
    #expect(capture.frames[3].colorTimestamp == nil)
    #expect(capture.frames.count == 12)
  }

  @Test("Stills that no row names are given to rows by their order")
  func unnamedStills() throws {
    let scratch = try scratch("sibling-wide")
    let rows = (0..<12).map { "\($0),\(98_765_432_101_234 + $0 * 33_323_000)\n" }.joined()
    try scratch.write("frame_number,timestamp_ns\n" + rows, to: "frame_metadata.csv")
    #expect(try scratch.open().warningCounts.isEmpty)
    #expect(try scratch.open().color.value?.frameOfPicture == nil)
    try scratch.remove("frame_metadata.csv")
    let untimed = try scratch.open()
    #expect(untimed.warningCounts == ["missing-file": 1, "timestamps-missing": 12])
    #expect(untimed.frames.count == 12)
    #expect(untimed.frames[0].timestamp == nil)
  }

  @Test(
    "Stills that no row names belong to the rows with the numbers, or the times, in their names",
    arguments: [
      (0, false, 0), (1, false, 0), (0, true, 0), (0, false, 1), (Int.min + 1, false, Int.max),
    ])
  func numberedStills(base: Int, isTime: Bool, added: Int) throws {
    let scratch = try scratch("sibling-wide")
    let lost = [4, 5]
    let times = (0..<12).map { 98_765_432_101_234 + $0 * 33_323_000 }
    let rows = times.enumerated().map { "\($0 + base),\($1)\n" }.joined()
    try scratch.write("frame_number,timestamp_ns\n" + rows, to: "frame_metadata.csv")
    for index in 0..<12 {
      let old = "frames/frame_0000\(index < 10 ? "0" : "")\(index).png"
      let new = isTime ? "\(times[index])" : "frame_\(index + base + added)"
      if !lost.contains(index) {
        try scratch.write(try scratch.bytes(of: old), to: "frames/image-\(new).png")
      }
      try scratch.remove(old)
    }
    let capture = try scratch.open()
    var told = ["frame-count-mismatch": 2]
    if added != 0 { told["pairing-approximate"] = 10 }
    #expect(capture.warningCounts == told)
    // Of rows numbered below 0 only the order is left.
    let ranks = Array(0..<10)
    #expect(
      capture.color.value?.frameOfPicture ?? ranks
        == (base < 0 ? ranks : (0..<12).filter { !lost.contains($0) }))
    #expect((capture.frames[4].colorTimestamp == nil) == (base >= 0))
  }

  @Test("Rows that name stills, but neither folder nor video: one thing is missing")
  func noStills() throws {
    let scratch = try scratch("sibling-wide")
    try scratch.remove("frames")
    let capture = try scratch.open()
    #expect(capture.warningCounts == ["missing-file": 1])
    #expect(capture.frames.count == 12)
    #expect(capture.color.value == nil)
  }

  @Test("A folder of which nothing can be read is no capture")
  func nothing() throws {
    let scratch = try VISLAMScratch()
    #expect(throws: CaptureError.self) { try scratch.open() }
    try scratch.write("timestamp_ns,sensor_type,x\n", to: "imu_data.csv")
    #expect(throws: CaptureError.self) { try scratch.open() }
  }

  @Test("Side files make it an Android session; only a recording id determines the signs")
  func sideFiles() throws {
    let scratch = try scratch("healthy")
    try scratch.write("{}", to: "calibration.json")
    #expect(try scratch.open().generation == "android")
    #expect(try scratch.open().imu.value?.convention == .coremotion)
    try scratch.write("{\"frame_count\": 61, \"recording_id\": 7}", to: "metadata.json")
    let capture = try scratch.open()
    #expect(capture.imu.value?.convention == .android)
    #expect(capture.color.value?.description.declaredFrames == 61)
    try scratch.write("not json", to: "metadata.json")
    #expect(try scratch.open().imu.value?.convention == .coremotion)
  }
}

/// A session in the making.
final class VISLAMScratch: ScratchCapture {
  convenience init() throws { try self.init(named: "session_2026-01-24T10-00-00Z") }

  override func open() throws -> Capture { try VISLAMReader.open(recognition(as: .vislam)) }
}

/// Tables in the app's own form.
enum VISLAMTables {
  static let imuHeader = "timestamp_ns,sensor_type,x,y,z\n"
  static let frameHeader =
    "frame_number,timestamp_ns,exposure_duration,iso,focal_length,width,height\n"
  static let start: Int64 = 1_000_000_000_000

  /// `count` accelerometer and gyroscope rows, 10 ms apart.
  static func imu(_ count: Int) -> String {
    (0..<count).map { index in
      let time = start + Int64(index) * 10_000_000
      return "\(time),gyroscope,0.1,0.2,0.3\n\(time + 1_250_000),accelerometer,1.0,2.0,-9.81\n"
    }.joined()
  }

  /// Frame rows at the given steps of 33,333,333 ns.
  static func frames(_ steps: [Double]) -> String {
    steps.enumerated().map { index, step in
      "\(index),\(start + Int64(step * 33_333_333)),0.0,0.0,4.25,320,180\n"
    }.joined()
  }
}

@Suite("VI-SLAM: the start in a folder's name")
struct VISLAMSessionNameTests {
  @Test(
    "A name that tells the time is understood, however it was copied",
    arguments: [
      ("session_2026-01-24T10:00:00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10-00-00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10_00_00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10.00.00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10%3A00%3A00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10%3a00%3a00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10\u{A789}00\u{A789}00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10\u{FF1A}00\u{FF1A}00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T100000Z", "2026-01-24T10:00:00Z"),
      ("session_20260124T100000Z", "2026-01-24T10:00:00Z"),
      ("SESSION_2026-01-24t10:00:00z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24 10:00:00Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24_10:00:00", "2026-01-24T10:00:00"),
      ("session_2026-01-24T10:00:00.123Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T10-00-00.123456Z", "2026-01-24T10:00:00Z"),
      ("session_2026-01-24T01:30:00+09:00", "2026-01-23T16:30:00Z"),
      ("session_2026-01-24T20:30:00-0530", "2026-01-25T02:00:00Z"),
      ("session_2026-01-24T20-30-00-05", "2026-01-25T01:30:00Z"),
      ("session_2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
      ("recording_20260124_100000_1a2B3c4D", "2026-01-24T10:00:00"),
      ("20260124_100000", "2026-01-24T10:00:00"),
    ])
  func parses(name: String, start: String) {
    #expect(VISLAMFiles.recordedAt(name) == start)
  }

  @Test(
    "Any other name tells nothing",
    arguments: [
      "capture", "", "session_", "session_2026-01-24", "session_2026-13-24T10:00:00Z",
      "session_2026-02-30T10:00:00Z", "session_2026-01-24T24:00:00Z",
      "session_2026-01-24T10:60:00Z",
      "session_2026-01-24T10:00:61Z", "my_2026-01-24T10:00:00Z", "session_2026-01-24T10:00Z",
      "session_2026-01-24X10:00:00Z", "session_2026-01-24T10:00:00Z (1)",
      "session_２０２６-01-24T10:00:00Z", "20260124_100000_zzzzzzzz",
    ])
  func declines(name: String) {
    #expect(VISLAMFiles.recordedAt(name) == nil)
  }
}
