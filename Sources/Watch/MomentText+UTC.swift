import FoundationEssentials
import Output
import Runner

extension MomentText {
  /// `2026-11-20T22:00:00.000Z`.
  public static func utc(_ date: Date) -> String {
    date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
  }

  /// What `utc` wrote, or the same without a fraction; `nil` for anything else.
  public static func date(of text: String) -> Date? {
    (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)))
      ?? (try? Date(text, strategy: .iso8601))
  }
}
