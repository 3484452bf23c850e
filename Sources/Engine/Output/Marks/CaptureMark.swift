import Core

/// A mark and whether it counts now.
public struct CaptureMark: Hashable, Sendable, Codable {
  /// Why a mark counts no more.
  public enum End: String, Hashable, Sendable, Codable {
    /// The capture's files are others than they were.
    case changed
    /// The mark's date has passed.
    case date
  }

  public var mark: MarkRecord.Kind
  public var note: String?
  /// `changed`, or a time (UTC, ISO 8601).
  public var until: String
  public var by: String
  /// The time of the mark in UTC (ISO 8601).
  public var at: String
  /// `nil`: it counts.
  public var ended: End?

  /// Looks at the capture's files where the mark lasts until they change; none is read. Cost: one system call per file.
  ///
  /// - Parameter likeness: of the files, where it is known.
  public init(
    _ record: MarkRecord, nowNanoseconds: Int64 = FileStamp.nowNanoseconds(),
    likeness: MarkRecord.Likeness? = nil
  ) {
    (mark, note, until) = (record.mark, record.note, record.until)
    (by, at) = (record.by, record.at)
    if let end = UTCText.nanoseconds(record.until) {
      if nowNanoseconds >= end { ended = .date }
    } else if (likeness ?? record.likeness) == .changed {
      ended = .changed
    }
  }

  /// Whether it counts: a capture with such a mark needs no person.
  public var isCurrent: Bool { ended == nil }
  /// Whether the capture is neither processed by a watcher nor tried again.
  public var isLeftAlone: Bool { isCurrent && mark.isLeftAlone }
  public var isRetired: Bool { isCurrent && mark == .retire }

  /// `marked ignore by anna at 2026-11-23T22:00:00Z until its files change: too dark`.
  public var words: String {
    let limit = until == MarkRecord.untilChanged ? "until its files change" : "until \(until)"
    let told = "\(mark.rawValue) by \(by) at \(at)"
    let reason = note.map { ": \($0)" } ?? ""
    switch ended {
    case nil: return "marked \(told) \(limit)\(reason)"
    case .changed: return "its mark counts no more, its files have changed (\(told)\(reason))"
    case .date: return "its mark counts no more, its date has passed (\(told) \(limit)\(reason))"
    }
  }
}
