import Captures
import Core

/// What became of a run: the object of `run --json` and of `run.json`.
public struct RunReport: Sendable, Codable, Hashable {
  public var schema = 1
  public var run: String
  public var exit: Int = 0
  public var captures: [CaptureReport] = []
  /// Folders that were found and hold files, but no capture of a known family.
  public var unrecognized: [Unrecognized] = []
  public var totals = RunTotals()
  /// Figures of a run on a batch system.
  public var cluster: ClusterFigures?

  public struct Unrecognized: Sendable, Codable, Hashable {
    public var path: String
    /// Names of what lies in it.
    public var holds: [String]

    public init(path: String, holds: [String]) {
      self.path = path
      self.holds = holds
    }
  }

  /// The report as all views have it: a step inside of a stage counts as a part of that stage, unless it failed.
  public var withoutInnerStages: RunReport {
    var report = self
    for index in report.captures.indices {
      for step in captures[index].stages {
        guard let owner = step.partOf, step.outcome != .failed else { continue }
        report.captures[index].stages.removeAll { $0.stage == step.stage }
        guard step.outcome == .made,
          let place = report.captures[index].stages.firstIndex(where: {
            $0.stage == owner && $0.outcome == .made
          })
        else { continue }
        report.captures[index].stages[place].takeTimes(of: step)
      }
      report.captures[index].noteOwners { _ in nil }
    }
    return report
  }
}

/// What became of one capture.
@dynamicMemberLookup
public struct CaptureReport: Sendable, Hashable, Codable {
  public struct Facts: Sendable, Codable, Hashable {
    public var id: String
    public var path: String
    public var family: String?
    public var outcome: RunOutcome
    public var stages: [StageReport] = []
    /// Warnings of opening and of stages, and one for each shortfall; notes come last.
    public var warnings: [CaptureWarning] = []
    /// Files that a complete upload would have, as in `capture.json`.
    public var missing: [String] = []
    /// Names of files that are known to be others than an upload server compared; `nil`: none.
    public var altered: [String]?
    /// Streams that have lost more of what the capture declares than the pipeline accepts; `nil`: none.
    public var shortfalls: [Shortfall]?
    /// Results of earlier runs that went because their stages have nothing to do any more; `nil`: none.
    public var removedResults: [RemovedResult]?
    /// On a batch system: elements that it has been part of, the last of them in the words of the batch
    /// system (`123_45`), and where that ran.
    public var attempts: Int?
    public var job: String?
    public var node: String?
    /// Resources that its last element asked for, against what its stages used.
    public var asked: AskedFor?
    /// What a person decided about it; `nil`: nothing, or it was not looked at.
    public var mark: CaptureMark?
  }

  private var facts: Facts
  /// Why it failed or was skipped; its message and detail are `nil` where a stage says it, its cause is the one that
  /// decides what helps.
  public var why: Failure
  /// What the watcher noted of one that was skipped for it; `nil`: it is not quarantined. Not in documents.
  public var quarantine: Failure?

  init(
    id: String, path: String, family: String?, outcome: RunOutcome, why: Failure = Failure()
  ) {
    facts = Facts(id: id, path: path, family: family, outcome: outcome)
    self.why = why
  }

  public subscript<Fact>(dynamicMember fact: WritableKeyPath<Facts, Fact>) -> Fact {
    get { facts[keyPath: fact] }
    set { facts[keyPath: fact] = newValue }
  }

  /// Notes do not count.
  public var warningCount: WarningCount { self.warnings.counted }

  /// The state that the run left it in, as far as the run knows.
  public var state: CaptureState {
    switch self.outcome {
    case .made, .upToDate, .notPossible: .done
    case .failed, .blocked: .failed
    case .interrupted, .skipped: quarantine == nil ? .queued : .quarantined
    }
  }

  /// Why it is as it is, or why the first of its stages is that has a reason.
  var firstMessage: String? { why.message ?? self.stages.compactMap(\.why.message).first }

  /// Takes in results that went, before those that it has.
  mutating func take(_ removed: [RemovedResult]) {
    let all = removed + (self.removedResults ?? [])
    self.removedResults = all.isEmpty ? nil : all
  }

  /// Notes of which stage each of its stages is an inner step.
  mutating func noteOwners(_ owner: (_ stage: String) -> String?) {
    for index in self.stages.indices {
      self.stages[index].partOf = owner(self.stages[index].stage)
    }
  }

  /// Whether all that can be done of what was asked for is done.
  public var hasSucceeded: Bool { state == .done }

  /// Why it needs a person; empty: it needs no person.
  public var reasons: [NeedReason] {
    var failure = self.stages.lazy.compactMap(\.failure).first { $0.cause == why.cause } ?? why
    failure.message = why.message ?? failure.message
    failure.detail = failure.detail ?? why.detail
    failure = quarantine ?? failure
    return NeedReason.all(
      state, failure: failure, missing: self.missing, altered: self.altered ?? [],
      shortfalls: self.shortfalls ?? [], isLeft: self.outcome == .interrupted, mark: self.mark,
      remedy: remedy(failure))
  }

  private func remedy(_ failure: Failure) -> Remedy {
    var remedy = Remedy(state: state.rawValue)
    (remedy.failure, remedy.family, remedy.folder) = (failure, self.family, self.path)
    remedy.warnings = self.warnings
    if self.outcome == .blocked {
      remedy.blocked = self.stages.filter { $0.outcome == .blocked }.map(\.stage)
    }
    return remedy
  }

  /// Stages that ended well; those that do not apply count in neither number.
  public var stagesDone: Int { self.stages.count { $0.outcome.isDone } }
  public var stagesApplicable: Int { self.stages.count { $0.outcome != .notPossible } }
  /// Stages that were asked for by name and cannot be made of this capture.
  public var notMade: [StageReport] { self.stages.filter { $0.askedByName == true } }

  // Unknown values have no key. `needsPerson` and `reasons` follow from the other members.

  private enum FollowingKeys: CodingKey {
    case state, needsPerson, reasons, warningCount
  }

  public init(from decoder: any Decoder) throws {
    facts = try Facts(from: decoder)
    why = try Failure(beside: decoder)
  }

  public func encode(to encoder: any Encoder) throws {
    try facts.encode(to: encoder)
    try why.encodeBeside(encoder)
    let reasons = reasons
    var following = encoder.container(keyedBy: FollowingKeys.self)
    try following.encode(state, forKey: .state)
    try following.encode(!reasons.isEmpty, forKey: .needsPerson)
    try following.encode(reasons, forKey: .reasons)
    try following.encode(warningCount.kinds, forKey: .warningCount)
  }
}

/// What became of one stage of one capture.
@dynamicMemberLookup
public struct StageReport: Sendable, Hashable, Codable {
  public struct Facts: Sendable, Codable, Hashable {
    public var stage: String
    public var uses: String
    /// The stage of which it is an inner step, by all that the capture was asked for; no document states it.
    package var partOf: String?
    public var outcome: RunOutcome
    /// `true`: it was asked for by name and does not apply; else `nil`.
    var askedByName: Bool?
    public var reason: Reason?
    public var seconds: Double?
    public var cpuSeconds: Double?
    public var frames: Int?
    var framesPerSecond: Double?
    /// Bytes of the artifact; of a removed one those that it had.
    public var bytes: Int64?
    /// `true`: it was an intermediate and is gone from the output; else `nil`.
    var removed: Bool?
    /// The most memory that the capture's process had while the stage ran, looked at four times a second;
    /// stages beside it included, programs that it started not.
    public var peakMemoryBytes: Int64?
  }

  private var facts: Facts
  /// Why it is not made: it failed, was kept from running, or has nothing to do.
  public var why = Failure()

  init(stage: String, uses: String, outcome: RunOutcome) {
    facts = Facts(stage: stage, uses: uses, outcome: outcome)
  }

  public subscript<Fact>(dynamicMember fact: WritableKeyPath<Facts, Fact>) -> Fact {
    get { facts[keyPath: fact] }
    set { facts[keyPath: fact] = newValue }
  }

  /// Adds the times of a step that ran inside of the stage, one after the other.
  fileprivate mutating func takeTimes(of step: StageReport) {
    if let more = step.cpuSeconds { facts.cpuSeconds = (facts.cpuSeconds ?? 0) + more }
    guard let more = step.seconds, let own = facts.seconds else { return }
    facts.seconds = own + more
    if facts.framesPerSecond != nil, let frames = facts.frames, own + more > 0 {
      facts.framesPerSecond = Double(frames) / (own + more)
    }
  }

  /// Why it failed, or what kept it from running; `nil` where neither is so.
  var failure: Failure? {
    guard self.outcome == .failed || self.outcome == .blocked else { return nil }
    var failure = why
    (failure.stage, failure.message) = (self.stage, why.message ?? self.outcome.rawValue)
    return failure
  }

  /// Bytes that it has added to what lies in the output.
  var bytesAdded: Int64 {
    self.outcome == .made && self.removed != true ? self.bytes ?? 0 : 0
  }

  public init(from decoder: any Decoder) throws {
    facts = try Facts(from: decoder)
    why = try Failure(beside: decoder)
  }

  public func encode(to encoder: any Encoder) throws {
    try facts.encode(to: encoder)
    try why.encodeBeside(encoder)
  }
}

/// The members of an object that tells of a failure beside other things.
extension Failure {
  fileprivate init(beside decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      message: try object.decodeIfPresent(String.self, forKey: .message),
      cause: try object.decodeIfPresent(FailureCause.self, forKey: .cause),
      detail: try object.decodeIfPresent(FailureDetail.self, forKey: .detail))
  }

  fileprivate func encodeBeside(_ encoder: any Encoder) throws {
    try Failure(message: message, cause: cause, detail: detail).encode(to: encoder)
  }
}

/// What a run asked of a batch system.
public struct ClusterFigures: Sendable, Codable, Hashable {
  /// Ids of its arrays, in the order in which they were submitted.
  public var jobs: [String] = []
  /// Elements of the first round.
  public var elements = 0
  /// Elements that were submitted, those that tried something again included.
  public var submitted = 0
  /// Number of submitted elements that tried something again.
  public var retried = 0
  /// The longest time that an element waited before it began, as far as it is known.
  public var queuedSeconds = 0.0

  public init() {}
}

/// What an element asked for.
public struct AskedFor: Sendable, Codable, Hashable {
  public var cores: Int
  var memoryBytes: Int64
  var timeSeconds: Int
  /// Between its submission and its begin.
  public var waitedSeconds: Double?
  /// What the capture's stages took together, and the most memory that was seen.
  public var usedSeconds: Double?
  public var usedMemoryBytes: Int64?

  public init(cores: Int, memoryBytes: Int64, timeSeconds: Int) {
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.timeSeconds = timeSeconds
  }
}

/// The place and the resources with which a batch system carried out the work on a capture.
public struct ClusterTrace: Sendable, Codable, Hashable {
  var node: String?
  /// Job of the last element, `123_45`.
  var job: String
  /// Elements that it has been part of.
  var attempts: Int
  var asked: AskedFor?

  /// `nil` for a capture that no batch system worked on.
  init?(_ report: CaptureReport) {
    guard let job = report.job else { return nil }
    self.job = job
    node = report.node
    attempts = report.attempts ?? 1
    asked = report.asked
  }

  /// `job 12_3 on node1, attempt 2, waited 12 s; asked for 4 cores, 4.00 GB, 1800 s; used 75 s, 1.20 GB`.
  public var words: String {
    var text = "job \(job)" + (node.map { " on \($0)" } ?? "")
    if attempts > 1 { text += ", attempt \(attempts)" }
    guard let asked else { return text }
    func seconds(_ value: Double) -> String { "\(Int(min(max(value, 0), 1e9).rounded(.up))) s" }
    if let waited = asked.waitedSeconds { text += ", waited \(seconds(waited))" }
    text +=
      "; asked for \(Plural.text(asked.cores, "core")), "
      + "\(ByteCount.text(asked.memoryBytes)), \(asked.timeSeconds) s"
    let used = [
      asked.usedSeconds.map(seconds), asked.usedMemoryBytes.map { ByteCount.text($0) },
    ].compactMap { $0 }
    if !used.isEmpty { text += "; used \(used.joined(separator: ", "))" }
    return text
  }
}

/// A run in numbers: captures by what it did with them, and what was done for them.
public struct RunTotals: Sendable, Codable, Hashable {
  /// The sum of all that follow up to `skipped`.
  public var captures = 0
  public var made = 0
  public var upToDate = 0
  /// Nothing that the run named can be made of them.
  public var notPossible = 0
  public var failed = 0
  public var blocked = 0
  public var interrupted = 0
  public var skipped = 0
  /// Captures that need a person, whatever the run did with them.
  public var needsPerson = 0
  /// Folders with files that are no capture of a known family.
  public var unrecognized = 0
  /// Each capture's once, however many stages worked on them.
  public var frames = 0
  /// Bytes of results that lie in the output; removed intermediates are not among them.
  public var bytes: Int64 = 0
  public var cpuSeconds = 0.0
  public var seconds = 0.0

  public init() {}

  public init(_ captures: [CaptureReport], unrecognized: Int, seconds: Double) {
    self.captures = captures.count
    self.unrecognized = unrecognized
    self.seconds = seconds
    for capture in captures {
      switch capture.outcome {
      case .made: made += 1
      case .upToDate: upToDate += 1
      case .notPossible: notPossible += 1
      case .failed: failed += 1
      case .blocked: blocked += 1
      case .interrupted: interrupted += 1
      case .skipped: skipped += 1
      }
      if !capture.reasons.isEmpty { needsPerson += 1 }
      let ran = capture.stages.filter { $0.outcome == .made }
      frames += ran.compactMap(\.frames).max() ?? 0
      bytes += ran.reduce(0) { $0 &+ $1.bytesAdded }
      cpuSeconds += ran.compactMap(\.cpuSeconds).reduce(0, +)
    }
  }
}
