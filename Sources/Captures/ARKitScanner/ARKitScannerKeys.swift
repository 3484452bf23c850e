import Geometry

/// The keys of a recording in order: record i and picture i belong to key i, so that a key that is
/// lost must leave its place empty.
struct ARKitScannerKeys: Sendable {
  /// `nil` at the place of a lost key.
  private(set) var times: [Timestamp?]
  /// Whether keys are lost, and it cannot be told which.
  private(set) var hasUnplacedLosses = false

  /// From the tables that have one entry per frame, the pose file's first. Where that is damaged, the
  /// others know its keys too; what is lost everywhere has left a gap in the times.
  init(_ tables: [ARKitScannerNumberTable]) {
    guard let first = tables.first else {
      times = []
      return
    }
    var known = first.entries.map(\.key.timestamp)
    times = known
    guard !first.isWhole else { return }
    known = Set(tables.flatMap { $0.entries.map(\.key.timestamp) }).sorted()
    times = known
    // How many a cut file has lost is known only if another one is whole.
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

  /// `times` with as many empty places as its gaps have room for; `nil` unless these are `count`.
  static func placing(_ count: Int, in times: [Timestamp]) -> [Timestamp?]? {
    let steps = TimeSteps(times)
    guard let median = steps.medianNanoseconds, median > 0, let first = times.first else {
      return nil
    }
    var placed: [Timestamp?] = [first]
    var left = count
    for (step, time) in zip(steps.nanoseconds, times.dropFirst()) {
      // At least as many as are left is too many anyhow.
      let room = min((Double(step) / Double(median)).rounded() - 1, Double(left) + 1)
      if room >= 1 {
        left -= Int(room)
        guard left >= 0 else { return nil }
        placed += Array(repeating: nil, count: Int(room))
      }
      placed.append(time)
    }
    return left == 0 ? placed : nil
  }
}
