import Synchronization

/// Collects warnings from several threads. Counts of entries with the same code and subject are
/// added; the first message is kept.
public final class WarningCollector: Sendable {
  private struct Entry {
    var warning: CaptureWarning
    var extent: WarningExtent
  }

  private let entries = Mutex<[Entry]>([])

  public init() {}

  /// Adds a warning; a count of 0 or less adds nothing. `extent` is the total to which the count
  /// relates: required for codes whose small counts are notes (``WarningSeverity``).
  public func add(
    _ code: WarningCode, _ subject: String, count: Int = 1, of extent: WarningExtent = .unknown,
    _ message: String
  ) {
    put(CaptureWarning(code, subject, count: count, of: extent, message), extent)
  }

  /// Adds a warning whose severity is already set.
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
      // The severity is determined again, because the sum may be too large for a note.
      let (sum, overflow) = entries[same].warning.count.addingReportingOverflow(warning.count)
      entries[same].extent = entries[same].extent.joined(with: extent)
      entries[same].warning = CaptureWarning(
        warning.code, warning.subject, count: overflow ? .max : sum, of: entries[same].extent,
        entries[same].warning.message)
    }
  }

  /// All entries so far, in the order of their first occurrence.
  public var warnings: [CaptureWarning] { entries.withLock { $0.map(\.warning) } }
}

/// What several families say in the same words. A count of 0 or less says nothing.
extension WarningCollector {
  /// A table that ends inside a line.
  func addCut(_ subject: String, _ isCut: Bool) {
    add(
      .truncatedStream, subject, count: isCut ? 1 : 0,
      "the file ends inside a line; its last cell is unknown")
  }

  func addUnknown(columns: [String], _ subject: String) {
    add(
      .unknownKey, subject, count: columns.count,
      "unknown columns: \(columns.prefix(8).joined(separator: ", "))")
  }

  func addLinksOutside(_ subject: String, _ count: Int, of noun: String) {
    add(
      .pathOutsideCapture, subject, count: count,
      "\(noun) that are links out of the capture's folder; not followed")
  }

  func addPoseJumps(_ count: Int) {
    add(
      .poseJump, "poses", count: count,
      "steps faster than 10 m/s: tracking was lost and found elsewhere")
  }

  func addOrder(of steps: TimeSteps, times: Int) {
    add(
      .timestampsDuplicate, "frames", count: steps.repeated, "neighboring frames with equal times")
    add(
      .timestampsUnordered, "frames", count: steps.backward, of: .size(times),
      "times of frames that go back; frames stay in the order of their numbers")
  }

  func addGaps(_ count: Int, frames: Int) {
    add(
      .frameGap, "frames", count: count, of: .size(frames),
      "steps above 1.5 times the median: the device dropped camera frames, for all streams at once")
  }

  func addDifference(color: Int, _ pictures: String, depth: Int, _ frames: String) {
    add(
      .colorShorterThanDepth, "color", count: depth - color,
      "\(color) \(pictures), \(depth) \(frames)")
    add(
      .depthShorterThanColor, "depth", count: color - depth,
      "\(depth) \(frames), \(color) \(pictures)")
  }
}
