import Core

/// When a watcher will be done with what it knows of, from what earlier captures of the same family and size took.
public struct NightForecast: Hashable, Sendable, Codable {
  /// Captures that are queued or at work.
  public var captures: Int
  /// Size of the captures' files.
  public var bytes: Int64
  /// UTC, ISO 8601, to the minute; `nil`: nothing is left, or `reason` says why it cannot be told.
  public var doneAt: String?
  /// Whether earlier captures differ so much, or are so few, that the time is a rough one.
  public var isAbout = false
  /// Why it cannot be told: `no-history`, `held`.
  public var reason: String?
  /// When everything should be done tonight (UTC, ISO 8601); `nil`: not asked for.
  public var due: String?
  /// Whether the captures will not be done when they are due, or were not.
  public var dueMissed = false

  public init(captures: Int, bytes: Int64) { (self.captures, self.bytes) = (captures, bytes) }

  /// `Done by about 04:10; 38 captures, 6.2 GB to go.`, in local time; `nil`: nothing is left.
  public func words(now: Int64) -> String? {
    guard captures > 0 else { return nil }
    let rest = "\(Plural.text(captures, "capture")), \(ByteCount.text(bytes)) to go."
    if let doneAt {
      return "Done by \(isAbout ? "about " : "")\(NightClock.words(doneAt, now: now)); \(rest)"
    }
    switch reason {
    case "held": return "Work is held, so nobody can tell when it will be done; \(rest)"
    default:
      return
        "When it will be done cannot be told yet: no capture like these was timed before; \(rest)"
    }
  }

  /// `It will not be done by 07:00`; `nil`: nothing is wrong.
  public func dueWords(now: Int64) -> String? {
    guard dueMissed, let due else { return nil }
    let time = NightClock.words(due, now: now)
    let isPast = (UTCText.nanoseconds(due) ?? .max) <= now
    return isPast ? "It was due at \(time) and is not done" : "It will not be done by \(time)"
  }
}
