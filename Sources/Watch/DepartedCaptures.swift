import Engine

/// How many captures went after they were done or given up. Retired ones count nowhere.
struct DepartedCaptures: Hashable, Sendable {
  private(set) var states: [CaptureState: Int] = [:]
  /// Done ones that a person has to look at.
  private(set) var short = 0
  /// Done ones that were processed without all of their files.
  private(set) var partial = 0
  private(set) var needing = 0
  /// Number of captures that would need a person and were marked.
  private(set) var acknowledged = 0

  mutating func add(_ entry: StagingEntry) { count(entry, 1) }

  /// Removes an entry that is there again, or at another place.
  mutating func remove(_ entry: StagingEntry) { count(entry, -1) }

  private mutating func count(_ entry: StagingEntry, _ step: Int) {
    guard let state = entry.departedState, entry.decision?.isRetired != true else { return }
    states[state, default: 0] += step
    if states[state] == 0 { states[state] = nil }
    if entry.isShort { short += step }
    if !entry.missing.isEmpty { partial += step }
    if entry.needsPerson { needing += step }
    if entry.isAcknowledged { acknowledged += step }
  }
}
