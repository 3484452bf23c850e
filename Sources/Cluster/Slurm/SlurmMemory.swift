import Synchronization

/// What is known about Slurm from its earlier answers.
final class SlurmMemory: Sendable {
  private struct State {
    /// Whether the last command to the controller was slow or got no answer.
    var isTroubled = false
    var hasAccounting = false
    /// Monotonic time of the last failure of `sacct`.
    var recordsFailed: Double?
    /// By job, the monotonic time since which records have not listed it although asked.
    var unlisted: [String: Double] = [:]
    /// Monotonic time of the last query of the queue instead of the records.
    var queueAsked: Double?
    /// Whether the last query went to the queue.
    var wasQueue = false
  }

  private let state = Mutex(State())

  private let slowSeconds: Double
  /// How long records are not asked after a failure.
  static let recordsPauseSeconds = 300.0

  /// Records may lag by minutes. A job that is not listed for this long may never be.
  static let unlistedSeconds = 120.0
  /// Interval in which the queue is asked instead of the records. Records may list a job as running
  /// forever although the controller has forgotten it ("runaway jobs").
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

  /// Whether the site keeps records and they did not fail recently.
  func believesRecords(at seconds: Double) -> Bool {
    state.withLock { state in
      guard state.hasAccounting else { return false }
      guard let failed = state.recordsFailed else { return true }
      return seconds - failed >= Self.recordsPauseSeconds
    }
  }

  /// Notes which of the `asked` jobs a records answer lists.
  func noteRecords(of asked: [String], listing listed: Set<String>, at seconds: Double) {
    state.withLock { state in
      let missing = asked.filter { !listed.contains($0) }
      state.unlisted = Dictionary(
        uniqueKeysWithValues: missing.map { ($0, state.unlisted[$0] ?? seconds) })
      state.queueAsked = state.queueAsked ?? seconds
    }
  }

  /// Whether this query must go to the queue although there are records: at regular intervals, and
  /// every other time while the records omit a job. A `true` result counts as asked.
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

  /// Notes whether the controller answered in time. A refusal counts as an answer.
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
