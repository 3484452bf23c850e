import Testing

@testable import Captures

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
