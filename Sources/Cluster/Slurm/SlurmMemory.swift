import Synchronization

/// What earlier answers of Slurm have told about it.
final class SlurmMemory: Sendable {
  private struct State {
    /// Whether the last command that asked the controller got no answer, or late.
    var isTroubled = false
    var hasAccounting = false
    /// When `sacct` last failed, on the monotonic clock.
    var recordsFailed: Double?
    /// Since when records have answered without a job that they were asked about.
    var unlisted: [String: Double] = [:]
    /// When the queue was last asked in place of the records.
    var queueAsked: Double?
    /// Whether the last question went to the queue.
    var wasQueue = false
  }

  private let state = Mutex(State())

  private let slowSeconds: Double
  /// After a failure the records are left alone for this long.
  static let recordsPauseSeconds = 300.0

  /// Records may lag by minutes; a job that they have not named for this long may never be named.
  static let unlistedSeconds = 120.0
  /// Records may call running for ever what the controller has forgotten ("runaway jobs").
  static let queueCheckSeconds = 300.0

  init(slowSeconds: Double) {
    self.slowSeconds = slowSeconds
  }

  var isTroubled: Bool { state.withLock { $0.isTroubled } }

  func setAccounting(_ hasAccounting: Bool) {
    state.withLock { $0.hasAccounting = hasAccounting }
  }

  func recordsFailed(at seconds: Double) {
    state.withLock { $0.recordsFailed = seconds }
  }

  /// Whether a site keeps records and they have not just failed.
  func believesRecords(at seconds: Double) -> Bool {
    state.withLock { state in
      guard state.hasAccounting else { return false }
      guard let failed = state.recordsFailed else { return true }
      return seconds - failed >= Self.recordsPauseSeconds
    }
  }

  /// - Parameter listed: the jobs among `asked` that an answer of the records names.
  func noteRecords(of asked: [String], listing listed: Set<String>, at seconds: Double) {
    state.withLock { state in
      let missing = asked.filter { !listed.contains($0) }
      state.unlisted = Dictionary(
        uniqueKeysWithValues: missing.map { ($0, state.unlisted[$0] ?? seconds) })
      state.queueAsked = state.queueAsked ?? seconds
    }
  }

  /// Whether the queue is to be asked this time although there are records: now and then, and every other
  /// time while these leave a job out. Counts as asked.
  func isQueueDue(at seconds: Double) -> Bool {
    state.withLock { state in
      guard let asked = state.queueAsked else { return false }
      let isUnlisted = state.unlisted.values.contains { seconds - $0 >= Self.unlistedSeconds }
      let isDue = isUnlisted ? !state.wasQueue : seconds - asked >= Self.queueCheckSeconds
      state.wasQueue = isDue
      if isDue { state.queueAsked = seconds }
      return isDue
    }
  }

  /// A refusal is an answer; silence and slowness are none.
  func noteController(_ answer: SlurmAnswer) {
    let isSilent: Bool
    switch answer.end {
    case .exited(0), .absent: isSilent = false
    case .exited: isSilent = RefusalText.kind(answer.errors) == .silent
    case .killed, .timedOut, .notStarted, .notAsked, .tooMuch: isSilent = true
    }
    state.withLock { $0.isTroubled = isSilent || answer.seconds >= slowSeconds }
  }
}
