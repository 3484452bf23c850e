import Core

/// The keys of a recording in order. Where they are times, record i belongs to key i, so a lost key
/// must leave its position empty. Where they are frame numbers they say it themselves.
struct ARKitScannerKeys: Sendable {
  /// Times of the keys; `nil` for a lost key.
  private(set) var times: [Timestamp?]
  /// Whether keys are lost at unknown positions.
  private(set) var hasUnplacedLosses = false

  /// From the tables with one entry per frame; the first is the pose file's. Keys that only another
  /// one has are used as well, of a whole pose file those of tables that share half of the keys. Keys
  /// that a damaged one lost and no other has show as gaps in the times.
  init(_ tables: [ARKitScannerNumberTable]) {
    guard let first = tables.first else {
      times = []
      return
    }
    let ofPoses = first.entries.map(\.key.timestamp)
    let ownKeys = Set(ofPoses)
    let others = tables.dropFirst().filter { $0.keysAreFrameNumbers == first.keysAreFrameNumbers }
      .map { $0.entries.map(\.key.timestamp) }
      .filter { keys in
        !first.isWhole || 2 * keys.count(where: ownKeys.contains) >= min(keys.count, ownKeys.count)
      }.joined()
    let all = ownKeys.union(others)
    let known = all.count == ownKeys.count ? ofPoses : all.sorted()
    times = known
    guard !first.isWhole, !first.keysAreFrameNumbers else { return }
    // The number of keys lost from a cut file is known only if another file is complete.
    let written = first.entries.count + first.farOff + first.unreadableKeys
    let lost = written - known.count
    if lost > 0 {
      if let placed = Self.placing(lost, in: known) {
        times = placed
      } else {
        times += Array(repeating: nil, count: lost)
        hasUnplacedLosses = true
      }
    } else if first.isCut, !tables.dropFirst().contains(where: \.isWhole) {
      hasUnplacedLosses = true
    }
  }

  /// `times` with empty positions inserted into its gaps; `nil` unless the gaps hold exactly
  /// `count`.
  static func placing(_ count: Int, in times: [Timestamp]) -> [Timestamp?]? {
    let steps = TimeSteps(times)
    guard let median = steps.medianNanoseconds, median > 0, let first = times.first else {
      return nil
    }
    var placed: [Timestamp?] = [first]
    var left = count
    for (step, time) in zip(steps.nanoseconds, times.dropFirst()) {
      // Limited: more than what is left is too many anyway.
      let missing = min((Double(step) / Double(median)).rounded() - 1, Double(left) + 1)
      if missing >= 1 {
        left -= Int(missing)
        guard left >= 0 else { return nil }
        placed += Array(repeating: nil, count: Int(missing))
      }
      placed.append(time)
    }
    return left == 0 ? placed : nil
  }
}
