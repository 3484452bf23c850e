@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
