import Core

/// Files of the watcher's own that could not be written: how often, whether they can be by now, and when
/// it is told again.
///
/// The first failure of a kind is told at once, later ones again and again with pauses that double, from ten
/// seconds up to an hour: a log that is read in the morning has the last hour's, and no line per look.
public struct WriteFailures: Sendable {
  /// What is written.
  public enum Kind: String, CaseIterable, Sendable {
    /// The file of `--metrics`.
    case metrics
    /// `.scanmill/` of the output and of captures.
    case notes
    /// `index.html` and the pages of captures.
    case pages
    /// `runs/`.
    case runs
  }

  private struct Entry {
    var count = 0
    /// Failures since it could last be written.
    var inARow = 0
    /// On the monotonic clock.
    var toldSeconds = 0.0
    var pauseSeconds = 0.0
    var lastText = ""
  }

  private static let firstPauseSeconds = 10.0
  private static let longestPauseSeconds = 3600.0

  /// By kind and file.
  private var entries: [String: Entry] = [:]

  init() {}

  /// Failures since the start.
  public func count(_ kind: Kind) -> Int {
    entries.reduce(0) { $1.key.hasPrefix("\(kind.rawValue) ") ? $0 + $1.value.count : $0 }
  }

  /// Whether something could not be written when it was last tried.
  var areFailing: Bool { entries.values.contains { $0.inARow > 0 } }

  /// Takes note of a failure.
  ///
  /// - Parameter file: which of its kind, by a name that stays the same.
  /// - Returns: what is to be told now; `nil`: nothing, it was told a short while ago.
  public mutating func failed(
    _ kind: Kind, _ file: String, _ problem: String, nowSeconds: Double
  ) -> String? {
    let key = "\(kind.rawValue) \(file)"
    var entry = entries[key] ?? Entry()
    entry.count += 1
    entry.inARow += 1
    defer { entries[key] = entry }
    let isNews = entry.inARow == 1 || entry.lastText != problem
    entry.lastText = problem
    if isNews {
      entry.pauseSeconds = Self.firstPauseSeconds
    } else {
      guard nowSeconds - entry.toldSeconds >= entry.pauseSeconds else { return nil }
      entry.pauseSeconds = min(2 * entry.pauseSeconds, Self.longestPauseSeconds)
    }
    entry.toldSeconds = nowSeconds
    return entry.inARow == 1
      ? "\(file): \(problem)" : "\(file): \(problem) (\(entry.inARow) times in a row)"
  }

  /// Takes note that it was written.
  ///
  /// - Returns: what is to be told now; `nil`: nothing, it could always be.
  mutating func succeeded(_ kind: Kind, _ file: String) -> String? {
    let key = "\(kind.rawValue) \(file)"
    guard let entry = entries[key], entry.inARow > 0 else { return nil }
    entries[key]?.inARow = 0
    return
      "\(file): can be written again, after \(Plural.text(entry.inARow, "failure"))"
  }
}
