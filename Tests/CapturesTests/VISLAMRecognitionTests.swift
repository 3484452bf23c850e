@testable import Captures
@testable import Core
import FoundationEssentials
import SystemPackage
import Testing

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
    #expect(VISLAMSessionName.recordedAt(name) == start)
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
    #expect(VISLAMSessionName.recordedAt(name) == nil)
  }
}
