@testable import Captures
@testable import Core
import SystemPackage
import Testing

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
