import FoundationEssentials
import Engine
import Core

extension MomentText {
  /// `2026-11-20T22:00:00.000Z`.
  static func utc(_ date: Date) -> String {
    UTCText.text(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.down)))
  }

  /// What `utc` wrote, or the same without a fraction; `nil` for anything else.
  public static func date(of text: String) -> Date? {
    ISOTime(text).map {
      Date(timeIntervalSince1970: Double($0.seconds) + Double($0.fraction) / 1e9)
    }
  }
}
