import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

@Suite("VI-SLAM: order, duplicates, gaps and coverage")
struct VISLAMOrderTests {
  private func open(_ imu: String?, _ frames: String?) throws -> (Capture, [String: Int]) {
    let scratch = try VISLAMScratch()
    if let imu { try scratch.write(VISLAMTables.imuHeader + imu, to: "imu_data.csv") }
    if let frames { try scratch.write(VISLAMTables.frameHeader + frames, to: "frame_metadata.csv") }
    let capture = try scratch.open()
    var warnings = capture.warningCounts
    warnings["missing-file"] = nil
    return (capture, warnings)
  }

  private let frames = VISLAMTables.frames([0, 1, 2])

  /// Rows of one sensor at milliseconds from the start.
  private func rows(_ sensor: String, _ milliseconds: [Int64]) -> String {
    milliseconds.map { "\(VISLAMTables.start + $0 * 1_000_000),\(sensor),1,2,3\n" }.joined()
  }

  @Test("Swapped neighbors are counted per sensor in file order, then sorted")
  func swapped() throws {
    let (capture, warnings) = try open(
      rows("gyroscope", [0, 10, 30, 20, 40, 60, 50, 70])
        + rows("accelerometer", [0, 10, 20, 30, 40, 60, 50, 70]), frames)
    #expect(warnings == ["timestamps-unordered": 3])
    #expect(capture.warnings.map(\.subject).contains("gyroscope"))
    let times = capture.imu.value?.samples.map(\.timestamp.nanoseconds) ?? []
    #expect(times == times.sorted())
  }

  @Test("Steps back above 1 s and ahead above 60 s are jumps instead")
  func jumps() throws {
    let (_, warnings) = try open(
      rows("gyroscope", [2000, 2010, 1010, 1020, 1030, 20, 30, 60_030, 120_031, 120_041]),
      VISLAMTables.frames([20]))
    #expect(warnings["timestamps-unordered"] == 1)
    #expect(warnings["clock-jump"] == 2)
  }

  @Test("Of two samples of one sensor at one time the first in the file stays")
  func duplicates() throws {
    let time = VISLAMTables.start + 100_000_000
    let (capture, warnings) = try open(
      rows("gyroscope", [0, 20, 40, 60, 80, 90])
        + "\(time),gyroscope,7,7,7\n\(time),gyroscope,8,8,8\n"
        + "\(time),accelerometer,9,9,9\n\(time),gyroscope,7,7,7\n", frames)
    #expect(warnings == ["timestamps-duplicate": 2])
    let values = capture.imu.value?.samples.filter { $0.timestamp.nanoseconds == time }.map(\.x)
    #expect(values == [9, 7])
  }

  @Test("Gaps are steps above three medians, but never below 50 ms")
  func gaps() throws {
    let (slow, slowWarnings) = try open(rows("gyroscope", [0, 20, 40, 60, 120, 181, 201]), frames)
    #expect(slowWarnings == ["imu-gap": 1])
    #expect(slow.imu.value?.gapThresholdNanoseconds == [60_000_000])
    let (_, fast) = try open(rows("gyroscope", [0, 1, 2, 3, 53, 104, 105, 106]), frames)
    #expect(fast == ["imu-gap": 1])
    let (_, unknown) = try open(
      rows("gyroscope", [0, 10, 20, 30, 40, 50, 60, 70]) + rows("barometer", [0, 10, 20, 1000]),
      frames)
    #expect(unknown == ["unknown-key": 4])
  }

  @Test("Frames outside of any inertial sensor's samples count once")
  func coverage() throws {
    let all = VISLAMTables.frames((0..<10).map(Double.init))
    let (_, both) = try open(
      rows("gyroscope", [50, 70, 90, 110, 130, 150, 170, 190, 210, 230, 250, 270, 290, 310])
        + rows("accelerometer", [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]), all)
    // Before 50 ms: frames 0 and 1; after 200 ms: frames 7, 8, 9 (6 is at 199.999998 ms).
    #expect(both == ["imu-outside-frames": 5])
    let (_, others) = try open(
      rows("gyroscope", Array(stride(from: -10, through: 400, by: 10)))
        + rows("magnetometer", [100, 110]) + rows("accelerometer", [100]), all)
    #expect(others.isEmpty)
  }

  @Test("A table with more than half of its rows on one time is refused")
  func stale() throws {
    let (capture, warnings) = try open(rows("gyroscope", [0, 10, 10, 10, 10, 20]), frames)
    #expect(warnings["timestamps-stale"] == 1)
    #expect(capture.imu.error != nil)
    #expect(capture.frames.count == 3)
    let (_, half) = try open(rows("gyroscope", [0, 10, 10, 10, 20, 30]), frames)
    #expect(half["timestamps-stale"] == nil)
    // Sensors of one callback share a time.
    let (shared, _) = try open(rows("gyroscope", [0]) + rows("accelerometer", [0]), frames)
    #expect(shared.imu.value?.samples.count == 2)
    let (stoodFrames, frameWarnings) = try open(
      rows("gyroscope", [0, 10, 20]), VISLAMTables.frames([1, 1, 1, 2]))
    #expect(frameWarnings["timestamps-stale"] == 1)
    #expect(stoodFrames.framesProblem != nil)
  }

  @Test("Frame rows follow the same rules, with gaps from 1.4 periods on")
  func frameRows() throws {
    let (capture, warnings) = try open(
      rows("gyroscope", Array(stride(from: -100, through: 900, by: 10))),
      VISLAMTables.frames([0, 1, 3, 2, 4, 5, 6.39, 7.39, 8.81, 9.81, 9.81, 10.81]))
    #expect(
      warnings == ["timestamps-unordered": 1, "timestamps-duplicate": 1, "frame-gap": 1])
    #expect(capture.frames.count == 11)
    #expect(capture.warnings.contains { $0.subject == "frame_metadata.csv" })
  }

  @Test("Damage beside a frame's time costs a cell, never the frame")
  func frameCells() throws {
    let text =
      "frame_number,timestamp_ns,exposure_duration,iso,focal_length,width,height\n"
      + "0,1000000000000,0.01,100,4.25,320,180\n1,1000033333333,abc,200,4.25,320,180\n"
      + "2,1000066666666,nan,300,4.25,320,180\n3,1000099999999,0,,4.25,,\n4,100013,0.01\n"
    let scratch = try VISLAMScratch()
    try scratch.write(text, to: "frame_metadata.csv")
    let capture = try scratch.open()
    #expect(
      capture.warningCounts
        == ["corrupt-record": 2, "non-finite-value": 1, "imu-missing": 1, "missing-file": 1])
    #expect(capture.frames.count == 4)
    let rows = capture.cameraSettings.value?.rows ?? []
    #expect(rows.map(\.frame) == [0, 1, 2])
    #expect(rows.map(\.exposureSeconds) == [0.01, nil, nil])
    #expect(rows.map(\.iso) == [100, 200, 300])
  }
}

@Suite("VI-SLAM: what the Android recorder states of its camera and its files")
struct VISLAMCameraTests {
  private let scratch: VISLAMScratch

  init() throws {
    scratch = try VISLAMScratch(
      copyOf: MadeCapture(family: "vi-slam", generation: "android").folder())
  }

  /// Replaces the empty focal lengths of these rows, counted from 1.
  private func write(_ focalLengths: [Int: String]) throws {
    let name = "frame_metadata.csv"
    var lines = try scratch.text(of: name).split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines[0].contains("focal_length_mm,focal_length_px,rolling_shutter_skew_ns"))
    for (line, value) in focalLengths {
      lines[line] = Substring(lines[line].replacing("4.25,,", with: "4.25,\(value),"))
    }
    try scratch.write(lines.joined(separator: "\n"), to: name)
  }

  @Test("Without focal lengths there are no intrinsics, and no file determines them")
  func none() throws {
    let capture = try scratch.open()
    #expect(capture.intrinsics.value == nil)
    #expect(capture.alignment == nil)
    #expect(capture.files[.intrinsics] == nil)
  }

  @Test(
    "A focal length in pixels is that of its row, about the middle of the picture; 0 is unknown")
  func focalLength() throws {
    try write([1: "51.5", 2: "0", 3: "52"])
    let capture = try scratch.open()
    let rows = try #require(capture.intrinsics.value)
    #expect(rows.map(\.frame) == [0, 2])
    #expect(
      rows.map(\.camera) == [51.5, 52].map { Intrinsics(fx: $0, fy: $0, cx: 31.5, cy: 23.5) })
    #expect(rows.allSatisfy { $0.width == 64 && $0.height == 48 })
    #expect(capture.alignment == nil)
    #expect(
      capture.files[.intrinsics]?.contains(scratch.folder.appending("frame_metadata.csv")) == true)
  }

  private func calibration(_ model: String = "PINHOLE", width: Int = 128) -> String {
    """
    {"camera_intrinsics": {"fx": 100.0, "fy": 101.0, "cx": 63.5, "cy": 47.5, "camera_model": "\(model)",
     "distortion_coeffs": [0.1, -0.2, 0.001, 0.002, 0.03], "image_width": \(width), "image_height": 96,
     "reprojection_error": 0.3, "capture_count": 20}, "metadata": {"app_version": "1.0.0"}}
    """
  }

  @Test(
    "A calibration goes before focal lengths: rescaled to the pictures, with its lens, for every frame"
  )
  func calibrated() throws {
    try write([1: "51.5"])
    try scratch.write(calibration(), to: "calibration.json")
    let capture = try scratch.open()
    let rows = try #require(capture.intrinsics.value)
    #expect(rows.map(\.frame) == Array(capture.frames.indices))
    #expect(
      Set(rows.map(\.camera)) == [Intrinsics(fx: 50, fy: 50.5, cx: 31.5, cy: 23.5)])
    #expect(capture.alignment?.colorIntrinsics?.width == 64)
    #expect(
      capture.alignment?.colorDistortion.openCVOrder == [0.1, -0.2, 0.001, 0.002, 0.03, 0, 0, 0])
    let file = scratch.folder.appending("calibration.json")
    #expect(capture.files[.calibration] == [file])
    #expect(capture.warningCounts.isEmpty)
  }

  @Test(
    "What is no pinhole of these pictures is not used, with the reason; what is no calibration is read over"
  )
  func unusable() throws {
    for (text, words) in [
      (calibration("FISHEYE"), "fisheye"), (calibration(width: 96), "aspect ratio"),
      ("{\"camera_intrinsics\": {\"fx\": 0}}", "no intrinsics"), ("[]", "no intrinsics"),
      (String(repeating: "[", count: 100_000), "no intrinsics"),
    ] {
      try scratch.write(text, to: "calibration.json")
      guard case .absent(let why) = try scratch.open().intrinsics else {
        Issue.record("intrinsics from \(text)")
        continue
      }
      #expect(why.contains(words))
    }
  }

  @Test(
    "Digests that the app wrote are compared: files that agree count, others are damaged, and those that are not there are missing"
  )
  func digests() throws {
    #expect(try scratch.open().completeness.verifiedFiles == nil)
    let names = ["imu_data.csv", "frame_metadata.csv", "video.mp4"]
    let lines = try names.enumerated().map { index, name in
      let digest = try Digest(ofFileAt: scratch.folder.appending(name)).hex
      return "\(index == 0 ? digest.uppercased() : digest) \(index == 1 ? "*" : " ")\(name)\n"
    }
    try scratch.write(
      lines.joined() + lines[0].replacing("imu_data.csv", with: "../outside") + "nonsense\n",
      to: "checksums.sha256")
    let whole = try scratch.open()
    #expect(whole.completeness.verifiedFiles == 3)
    #expect(whole.warningCounts.isEmpty)
    var bytes = try scratch.bytes(of: "video.mp4")
    bytes[bytes.count - 1] ^= 1
    try scratch.write(bytes, to: "video.mp4")
    let damaged = try scratch.open()
    #expect(damaged.completeness.verifiedFiles == 2)
    let warning = try #require(damaged.warnings.first { $0.subject == "checksums.sha256" })
    #expect(warning.code == .corruptRecord)
    #expect(warning.message.contains("video.mp4"))
    try scratch.write(
      lines.joined() + lines[0].replacing("imu_data.csv", with: "calibration.json"),
      to: "checksums.sha256")
    let lacking = try scratch.open().completeness
    #expect(lacking.absentFiles == ["calibration.json"])
    #expect(!lacking.isWhole)
    // Names of another folder tell nothing of this one.
    try scratch.write(
      lines.joined().replacing(/[ *](?=[a-z])/, with: " session/"), to: "checksums.sha256")
    let foreign = try scratch.open().completeness
    #expect(foreign.verifiedFiles == 0)
    #expect(foreign.absentFiles.isEmpty)
  }
}

@Suite("VI-SLAM: surplus cells, times far off, other encodings")
struct VISLAMDamagedRowsTests {
  private static let start = VISLAMTables.start
  private static let frames = VISLAMTables.frames([0, 1, 2, 3])

  private func open(
    imu: String? = nil, header: String = VISLAMTables.imuHeader, frames: String = Self.frames
  ) throws -> (capture: Capture, warnings: [String: Int]) {
    let scratch = try VISLAMScratch()
    try scratch.write(header + (imu ?? VISLAMTables.imu(20)), to: "imu_data.csv")
    try scratch.write(VISLAMTables.frameHeader + frames, to: "frame_metadata.csv")
    let capture = try scratch.open()
    // No video, and an accelerometer that starts behind the first frame.
    let others = capture.warningCounts.filter {
      !["missing-file", "imu-outside-frames"].contains($0.key)
    }
    return (capture, others)
  }

  @Test("Rows with decimal commas give no numbers, and the message says what they are")
  func decimalCommas() throws {
    let row = "\(Self.start),gyroscope,0,1,0,2,0,3\n"
    let (all, warnings) = try open(imu: String(repeating: row, count: 5))
    #expect(warnings["corrupt-record"] == 5)
    let message = try #require(all.imu.error).description
    #expect(message.contains("imu_data.csv") && message.contains("decimal commas"))
    #expect(all.frames.count == 4)
    // The same where another delimiter divides the table.
    let (semicolons, _) = try open(
      imu: "\(Self.start);gyroscope;0,1;0,2;0,3\n",
      header: VISLAMTables.imuHeader.replacing(",", with: ";"))
    #expect(semicolons.imu.error?.description.contains("decimal commas") == true)
    // Some of them: only those are lost, wherever they stand.
    let (some, counts) = try open(imu: row + VISLAMTables.imu(20) + String(row.dropLast()))
    #expect(counts["corrupt-record"] == 2)
    #expect(some.imu.value?.samples.count == 40)
    // Surplus cells that are empty are none.
    let (empty, none) = try open(
      imu: VISLAMTables.imu(20).split(separator: "\n").map { $0 + ",,\n" }.joined())
    #expect(none.isEmpty)
    #expect(empty.imu.value?.samples.count == 40)
  }

  @Test("The same in the frame table")
  func decimalCommasInFrames() throws {
    let rows = (0..<Int64(4)).map { "\($0),\(Self.start + $0 * 33_333_333),0,01,64,4,25,320,180\n" }
    let (capture, warnings) = try open(frames: rows.joined())
    #expect(warnings["corrupt-record"] == 4)
    let message = try #require(capture.framesProblem).description
    #expect(message.contains("frame_metadata.csv") && message.contains("decimal commas"))
    #expect(capture.imu.value?.samples.count == 40)
    let (mixed, counts) = try open(frames: Self.frames + rows[3])
    #expect(counts["corrupt-record"] == 1)
    #expect(mixed.frames.count == 4)
    // A row whose time can be read is kept, and counts once.
    let (kept, texts) = try open(
      frames: Self.frames + "4,\(Self.start + 133_333_332),long,high,4.25,320,180\n")
    #expect(texts["corrupt-record"] == 1)
    #expect(kept.frames.count == 5)
  }

  @Test(
    "A time far off is a corrupt row and moves nothing",
    arguments: [
      1, Int64.max, 1_770_000_000_000_000_000, 9_000_000_000_000,
    ])
  func farOff(time: Int64) throws {
    let (healthy, none) = try open()
    #expect(none.isEmpty)
    let frame = "9,\(time),0.0,0.0,4.25,320,180\n"
    let (capture, warnings) = try open(
      imu: "\(time),gyroscope,1,2,3\n" + VISLAMTables.imu(20), frames: frame + Self.frames)
    // Before the hour is over an early time is near enough.
    let isFar = time > 9_000_000_000 || Self.start - time > 3_600_000_000_000
    if isFar {
      #expect(warnings == ["corrupt-record": 2])
      #expect(capture.frames == healthy.frames)
      #expect(capture.imu.value?.samples == healthy.imu.value?.samples)
    } else {
      #expect(capture.frames.count == 5)
    }
  }
}

@Suite("VI-SLAM fixtures", .enabled(if: Fixtures.arePresent))
struct VISLAMFixtureTests {
  private static let cases = Fixtures.cases(of: "vi-slam")

  @Test("A fixture opens with the expected streams and frames", arguments: cases)
  func opens(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try fixture.certainCapture()
    #expect(capture.family == .vislam && capture.id == "capture")
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.count == expected.streams.frames)
    #expect(capture.completeness.isWhole == (fixture.name != "crlf-bom"))
    #expect(capture.recordedAt == nil)

    let color = try #require(capture.color.value)
    #expect(color.description.frames == expected.streams.color.frames)
    #expect(color.description.encoding == expected.streams.color.encoding)
    #expect(color.description.width == expected.streams.color.width)
    #expect(color.description.height == expected.streams.color.height)
    #expect(color.clockwiseQuarterTurns == 0)
  }

  @Test("Every picture is assigned to the frame whose number it shows", arguments: cases)
  func pictures(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try fixture.certainCapture()
    let color = try #require(capture.color.value)
    let pictures = color.description.frames ?? 0
    let frames = color.frameOfPicture ?? Array(0..<pictures)
    let shown = expected.colorFrameCode.indices.filter { expected.colorFrameCode[$0] != nil }
    #expect(frames == shown)
    #expect(frames.count == expected.colorFrames)
  }

  @Test("Exposure and ISO are those of the rows, unknown where the app writes 0", arguments: cases)
  func settings(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try fixture.certainCapture()
    var exposures = [Double?](repeating: nil, count: capture.frames.count)
    var isos = exposures
    for row in capture.cameraSettings.value?.rows ?? [] {
      exposures[row.frame] = row.exposureSeconds
      isos[row.frame] = row.iso
    }
    #expect(exposures == expected.exposureS)
    #expect(isos == expected.iso)
  }

  @Test("The IMU table follows the expected convention, or says what it lacks", arguments: cases)
  func imu(fixture: FixtureCase) throws {
    let expected = try fixture.json(VISLAMExpected.self, from: "expected.json")
    let capture = try fixture.certainCapture()
    guard !expected.mustFail.contains("imu") else {
      let error = try #require(capture.imu.error)
      #expect(error.description.contains("imu_data.csv"))
      #expect(error.description.contains("`z`"))
      return
    }
    #expect(capture.imu.value?.convention.rawValue == expected.imu.convention)
  }
}

/// What an independent encoder says of a fixture, as far as its reader alone decides it.
struct VISLAMExpected: Decodable {
  struct Streams: Decodable {
    struct Color: Decodable {
      var frames, width, height: Int
      var encoding: String
    }
    var frames: Int
    var color: Color
  }
  struct IMU: Decodable {
    var convention: String
  }

  var generation: String
  var streams: Streams
  var colorFrames: Int
  var colorFrameCode: [Int?]
  var exposureS: [Double?]
  var iso: [Double?]
  var imu: IMU
  var mustFail: [String]
}
