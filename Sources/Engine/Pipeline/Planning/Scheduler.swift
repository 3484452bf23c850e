/// What one run did with a capture or a stage: exactly one of these.
public enum RunOutcome: String, Codable, Sendable, CaseIterable {
  case made
  case upToDate = "up-to-date"
  case failed
  /// Something that it needs failed.
  case blocked
  /// The run was interrupted before it was done; no failure.
  case interrupted
  case skipped
  /// A stage that does not apply to the capture, or a capture to which nothing applies that the run named.
  case notPossible = "not-possible"

  /// Whether it is there now. Of a stage: whether others may read what it publishes.
  public var isDone: Bool { self == .made || self == .upToDate }
  public var hasFailed: Bool { self == .failed || self == .blocked }

  public var words: String { rawValue.replacing("-", with: " ") }

  /// The end of a sentence about a stage: "its input 'depth' …".
  var phrase: String {
    switch self {
    case .made: "was made"
    case .upToDate: "is up to date"
    case .failed: "failed"
    case .blocked: "is blocked"
    case .notPossible: "is not possible"
    case .interrupted: "was stopped"
    case .skipped: "was skipped"
    }
  }
}

/// Decides which jobs of one capture may start. Pure: no clock, threads or files.
///
/// A job is ready when all its inputs have ended and every required one successfully. Jobs with a
/// failed required input end as `blocked` (or `not-applicable`) without running. A dormant job (an
/// intermediate that is up to date but removed) counts as ended until it is demanded. Cost of each
/// call: linear in the connections of the pipeline.
struct Scheduler: Sendable {
  enum State: Hashable {
    case waiting
    case dormant
    case running
    case ended(RunOutcome)
  }

  private let order: [String]
  private let inputs: [String: [PortBinding]]
  private(set) var states: [String: State]

  /// - Parameters:
  ///   - stages: in pipeline order; inputs that are not among them count as ended.
  ///   - dormant: removed intermediates.
  init(_ stages: [StageDefinition], dormant: Set<String> = []) {
    let names = Set(stages.map(\.name))
    order = stages.map(\.name)
    inputs = Dictionary(
      uniqueKeysWithValues: stages.map { stage in
        (stage.name, stage.inputs.filter { names.contains($0.stage) })
      })
    states = Dictionary(
      uniqueKeysWithValues: stages.map {
        ($0.name, dormant.contains($0.name) ? .dormant : .waiting)
      }
    )
  }

  /// Whether nothing runs and nothing can start any more.
  var isDone: Bool {
    states.values.allSatisfy { state in
      switch state {
      case .ended, .dormant: true
      case .waiting, .running: false
      }
    }
  }

  /// Returns the jobs that may start now, in pipeline order, and marks them as running.
  mutating func start() -> [String] {
    let ready = order.filter { states[$0] == .waiting && inputsHaveEnded($0) }
    for name in ready { states[name] = .running }
    return ready
  }

  /// A job that can no longer run, and the input that blocks it.
  struct Stopped: Hashable, Sendable {
    var job: String
    var because: String
  }

  /// Returns a started job to the waiting ones because it needs inputs; wakes dormant ones. Returns
  /// the jobs that can no longer run, possibly `job` itself; or `nil`, without any change, if all
  /// of `names` have ended successfully.
  mutating func demand(_ names: [String], for job: String) -> [Stopped]? {
    var mustWait = false
    for name in names {
      switch states[name] {
      case .dormant:
        states[name] = .waiting
        mustWait = true
      case .waiting, .running: mustWait = true
      case .ended(let outcome): mustWait = mustWait || !outcome.isDone
      case nil: break
      }
    }
    guard mustWait else { return nil }
    states[job] = .waiting
    return stopBlocked()
  }

  /// Makes a started job dormant because it is up to date and removed.
  mutating func rest(_ name: String) { states[name] = .dormant }

  /// Records the outcome of a job. Ends jobs that can no longer run and returns them, in pipeline
  /// order.
  mutating func finish(_ name: String, _ outcome: RunOutcome) -> [Stopped] {
    states[name] = .ended(outcome)
    return stopBlocked()
  }

  /// Ends waiting jobs with a failed required input. One pass suffices, because inputs come first
  /// in pipeline order.
  private mutating func stopBlocked() -> [Stopped] {
    var stopped: [Stopped] = []
    for job in order where states[job] == .waiting {
      for input in inputs[job] ?? [] where !input.isOptional {
        guard case .ended(let end) = states[input.stage], !end.isDone else { continue }
        states[job] = .ended(
          end == .notPossible ? .notPossible : end == .interrupted ? .interrupted : .blocked)
        stopped.append(Stopped(job: job, because: input.stage))
        break
      }
    }
    return stopped
  }

  /// Ends everything that has not started; running jobs are not affected.
  mutating func cancelWaiting() -> [String] {
    let waiting = order.filter { states[$0] == .waiting }
    for name in waiting { states[name] = .ended(.interrupted) }
    return waiting
  }

  /// The outcome of a job; `nil` while it has none.
  func outcome(of name: String) -> RunOutcome? {
    if case .ended(let outcome) = states[name] { outcome } else { nil }
  }

  /// Whether a job has made or found an artifact: it ended successfully, or is dormant. A reader
  /// that does not find such an artifact has come just while a dormant one was made again.
  func hasArtifact(_ name: String) -> Bool {
    switch states[name] {
    case .dormant, .ended(.made), .ended(.upToDate): true
    case .ended, .waiting, .running, nil: false
    }
  }

  private func inputsHaveEnded(_ name: String) -> Bool {
    (inputs[name] ?? []).allSatisfy { input in
      switch states[input.stage] {
      case .ended, .dormant, nil: true
      case .waiting, .running: false
      }
    }
  }
}
