import Foundation
import Testing

@testable import Engine
@testable import Watch

@Suite("A window of the day")
struct TimeWindowTests {
  @Test(
    "is HH:MM-HH:MM and nothing else",
    arguments: [
      ("22:00-06:00", true), ("09:00-17:30", true), ("00:00-23:59", true), ("22:00", false),
      ("22:00-", false), ("-06:00", false), ("22:00–06:00", false), ("22:00 - 06:00", false),
      ("22:00-06:00-07:00", false), ("06:00-06:00", false), ("22:00-24:00", false), ("", false),
    ])
  func text(text: String, isValid: Bool) {
    #expect(TimeWindow(text)?.description == (isValid ? text : nil))
  }

  @Test(
    "is open from its beginning until just before its end",
    arguments: [
      ("UTC", "22:00-06:00", "2026-11-20T21:59:59Z", false),
      ("UTC", "22:00-06:00", "2026-11-20T22:00:00Z", true),
      ("UTC", "22:00-06:00", "2026-11-21T00:00:00Z", true),
      ("UTC", "22:00-06:00", "2026-11-21T05:59:59Z", true),
      ("UTC", "22:00-06:00", "2026-11-21T06:00:00Z", false),
      ("UTC", "09:00-17:00", "2026-11-20T12:00:00Z", true),
      ("UTC", "09:00-17:00", "2026-11-20T08:59:59Z", false),
      ("UTC", "09:00-17:00", "2026-11-20T17:00:00Z", false),
      ("Europe/Berlin", "22:00-06:00", "2026-07-20T20:00:00Z", true),
      ("Europe/Berlin", "22:00-06:00", "2026-07-20T19:59:59Z", false),
      // The night with an hour less: 02:00 to 03:00 does not exist.
      ("Europe/Berlin", "22:00-02:30", "2026-03-29T00:59:59Z", true),
      ("Europe/Berlin", "22:00-02:30", "2026-03-29T01:00:00Z", false),
      ("Europe/Berlin", "02:30-05:00", "2026-03-29T00:59:59Z", false),
      ("Europe/Berlin", "02:30-05:00", "2026-03-29T01:00:00Z", true),
      ("Europe/Berlin", "02:30-05:00", "2026-03-29T03:00:00Z", false),
      ("Europe/Berlin", "02:10-02:50", "2026-03-29T01:00:00Z", false),
      // The night with an hour more: 02:00 to 03:00 twice.
      ("Europe/Berlin", "22:00-02:30", "2026-10-25T00:29:59Z", true),
      ("Europe/Berlin", "22:00-02:30", "2026-10-25T00:30:00Z", false),
      ("Europe/Berlin", "22:00-02:30", "2026-10-25T01:15:00Z", false),
      ("Europe/Berlin", "02:30-05:00", "2026-10-25T00:30:00Z", true),
      ("Europe/Berlin", "02:30-05:00", "2026-10-25T01:00:00Z", true),
      ("Europe/Berlin", "02:30-05:00", "2026-10-25T03:59:59Z", true),
      ("Europe/Berlin", "02:30-05:00", "2026-10-25T04:00:00Z", false),
    ])
  func open(zone: String, window: String, at: String, expected: Bool) throws {
    let window = try #require(TimeWindow(window))
    let (now, zone) = (try Zones.utc(at), try Zones.zone(zone))
    #expect(window.isOpen(atNanoseconds: now, zone: zone) == expected)
    #expect((window.secondsUntilOpen(atNanoseconds: now, zone: zone) == 0) == expected)
  }

  @Test(
    "tells how long until it opens",
    arguments: [
      ("UTC", "22:00-06:00", "2026-11-20T12:00:00Z", 36000.0),
      ("UTC", "22:00-06:00", "2026-11-20T21:59:59Z", 1),
      ("Europe/Berlin", "02:30-05:00", "2026-03-29T00:59:00Z", 60),
      // Its hour is left out that night: the next day's.
      ("Europe/Berlin", "02:10-02:50", "2026-03-29T01:00:00Z", 83400),
      ("Europe/Berlin", "04:00-05:00", "2026-10-25T00:00:00Z", 10800),
    ])
  func wait(zone: String, window: String, at: String, seconds: Double) throws {
    let window = try #require(TimeWindow(window))
    #expect(
      window.secondsUntilOpen(atNanoseconds: try Zones.utc(at), zone: try Zones.zone(zone))
        == seconds)
  }

  @Test("is what the clock on the wall says, minute by minute, on every ordinary day")
  func ordinaryDays() throws {
    let zone = try Zones.zone("Asia/Kathmandu")
    let window = try #require(TimeWindow("22:00-06:00"))
    let start = try Zones.utc("2026-11-20T00:00:00Z")
    for minute in 0..<2880 {
      let now = start + Int64(minute) * 60_000_000_000
      let local = (now / 60_000_000_000 + zone.offsetSeconds(now / 1_000_000_000) / 60) % 1440
      #expect(window.isOpen(atNanoseconds: now, zone: zone) == (local >= 1320 || local < 360))
    }
  }
}
