import Foundation
import Testing

@testable import Engine
@testable import Watch

@Suite("A time of the day")
struct DailyTimeTests {
  @Test("is HH:MM", arguments: ["00:00", "06:00", "23:59"])
  func valid(text: String) { #expect(DailyTime(text)?.description == text) }

  @Test(
    "is nothing else",
    arguments: [
      "", "6:00", "06:0", "24:00", "23:60", "0600", "06:00 ", " 6:00", "-1:00", "+1:00", "06:00:00",
      "06.00", "٠٦:٠٠", "aa:bb",
    ])
  func invalid(text: String) { #expect(DailyTime(text) == nil) }

  /// Zone, time of the day, a moment, and the next such time after it.
  static let cases = [
    ("UTC", "06:00", "2026-11-20T05:59:59Z", "2026-11-20T06:00:00Z"),
    ("UTC", "06:00", "2026-11-20T06:00:00Z", "2026-11-21T06:00:00Z"),
    ("UTC", "00:00", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
    ("Europe/Berlin", "06:00", "2026-11-20T04:59:59Z", "2026-11-20T05:00:00Z"),
    // Left out (02:00 to 03:00): the moment of the change.
    ("Europe/Berlin", "02:30", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "02:30", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
    ("Europe/Berlin", "02:00", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "03:00", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    // Twice (02:00 to 03:00): the first, and only that.
    ("Europe/Berlin", "02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
    ("Europe/Berlin", "02:30", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
    ("Europe/Berlin", "03:00", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"),
    ("America/New_York", "02:30", "2026-03-08T00:00:00Z", "2026-03-08T07:00:00Z"),
    ("America/New_York", "01:30", "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z"),
    ("America/New_York", "01:30", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"),
    // Half an hour.
    ("Australia/Lord_Howe", "02:15", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "01:45", "2026-04-04T12:00:00Z", "2026-04-04T14:45:00Z"),
    // Put back over midnight: the day has it once, before the change.
    ("America/Havana", "00:30", "2026-10-31T12:00:00Z", "2026-11-01T04:30:00Z"),
    ("America/Havana", "00:30", "2026-11-01T04:45:00Z", "2026-11-02T05:30:00Z"),
    // Put forward over midnight.
    ("America/Havana", "00:30", "2026-03-07T12:00:00Z", "2026-03-08T05:00:00Z"),
    // A day that was left out: 30 December 2011.
    ("Pacific/Apia", "12:00", "2011-12-29T23:00:00Z", "2011-12-30T10:00:00Z"),
    ("Pacific/Apia", "12:00", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"),
    ("Asia/Kathmandu", "06:00", "2026-11-20T00:14:59Z", "2026-11-20T00:15:00Z"),
    ("Pacific/Kiritimati", "06:00", "2026-11-20T00:00:00Z", "2026-11-20T16:00:00Z"),
    ("UTC", "06:00", "1969-12-31T05:00:00Z", "1969-12-31T06:00:00Z"),
  ]

  @Test("comes once a day, on days when clocks change as well", arguments: cases)
  func next(zone: String, time: String, after: String, expected: String) throws {
    let time = try #require(DailyTime(time))
    let next = time.next(afterNanoseconds: try Zones.utc(after), zone: try Zones.zone(zone))
    #expect(Zones.text(next) == expected)
  }

  @Test(
    "comes again and again, always later, at least 23 and at most 25 hours on but for a lost day",
    arguments: ["Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe"])
  func series(zone: String) throws {
    let local = try Zones.zone(zone)
    for text in ["00:00", "00:30", "01:30", "02:00", "02:30", "03:00", "12:00", "23:59"] {
      let time = try #require(DailyTime(text))
      var now = time.next(afterNanoseconds: try Zones.utc("2026-01-01T00:00:00Z"), zone: local)
      for _ in 0..<365 {
        let next = time.next(afterNanoseconds: now, zone: local)
        #expect((23...25).contains(Double(next - now) / 3.6e12), "\(text) after \(now)")
        now = next
      }
      #expect(now < (try Zones.utc("2027-01-03T00:00:00Z")))
      #expect(now > (try Zones.utc("2026-12-31T00:00:00Z")))
    }
  }

  @Test("is a moment also at the ends of time", arguments: [Int64.min, Int64.max, -1, 0])
  func extremes(now: Int64) throws {
    let time = try #require(DailyTime("06:00"))
    #expect(time.next(afterNanoseconds: now, zone: LocalZone { _ in 0 }) >= now)
  }

  @Test("is read from the machine's time zone, whatever that is")
  func machine() async throws {
    await #expect(processExitsWith: .success) {
      for (zone, time, after, expected) in DailyTimeTests.cases {
        setenv("TZ", zone, 1)
        let next = DailyTime(time)?.next(afterNanoseconds: try Zones.utc(after))
        guard let next, Zones.text(next) == expected else {
          print("\(zone) \(time) \(after): \(next.map(Zones.text) ?? "none")")
          exit(1)
        }
      }
    }
  }
}

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

/// Time zones as Foundation knows them: another reading of the same database than the C library's.
enum Zones {
  static func zone(_ name: String) throws -> LocalZone {
    guard let zone = TimeZone(identifier: name) else { throw Absent(name: name) }
    return LocalZone { seconds in
      Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
    }
  }

  struct Absent: Error {
    var name: String
  }

  /// Nanoseconds since 1970 of `2026-03-29T00:59:59Z`.
  static func utc(_ text: String) throws -> Int64 {
    Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1_000_000_000
  }

  static func text(_ nanoseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601)
  }
}
