import Foundation

@testable import Engine
@testable import Watch

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
