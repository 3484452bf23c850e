import Synchronization

/// Gathers warnings from several threads; entries of the same code and subject add up, the first
/// message stays.
public final class WarningCollector: Sendable {
  private struct Entry {
    var warning: CaptureWarning
    var extent: WarningExtent
  }

  private let entries = Mutex<[Entry]>([])

  public init() {}

  /// Adds a warning. A count of 0 or less adds nothing. `extent` is what the count is measured against:
  /// where the code is one that small counts make a note (``WarningSeverity``), name it.
  public func add(
    _ code: WarningCode, _ subject: String, count: Int = 1, of extent: WarningExtent = .unknown,
    _ message: String
  ) {
    put(CaptureWarning(code, subject, count: count, of: extent, message), extent)
  }

  /// Adds a warning that was weighed where it was found.
  public func add(_ warning: CaptureWarning) {
    put(warning, .unknown)
  }

  private func put(_ warning: CaptureWarning, _ extent: WarningExtent) {
    guard warning.count > 0 else { return }
    entries.withLock { entries in
      let same = entries.firstIndex {
        $0.warning.code == warning.code && $0.warning.subject == warning.subject
      }
      guard let same else { return entries.append(Entry(warning: warning, extent: extent)) }
      // Weighed anew: what was a note may be one no longer.
      let (sum, overflow) = entries[same].warning.count.addingReportingOverflow(warning.count)
      entries[same].extent = entries[same].extent.joined(with: extent)
      entries[same].warning = CaptureWarning(
        warning.code, warning.subject, count: overflow ? .max : sum, of: entries[same].extent,
        entries[same].warning.message)
    }
  }

  /// All entries so far, in the order of their first appearance.
  public var warnings: [CaptureWarning] { entries.withLock { $0.map(\.warning) } }
}
