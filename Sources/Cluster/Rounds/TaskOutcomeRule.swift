import Core
import Engine

/// Decides about one array task from its results, from the batch system's state, and from which
/// artifacts are visible. A pure function.
struct TaskOutcomeRule {
  let limits: RoundLimits

  init(_ limits: RoundLimits) { self.limits = limits }

  func decide(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    if element.end?.way == .refused {
      return broken(element, .refused(element.end?.message ?? "it gave no reason"))
    }
    if element.view?.state == .pending, let never = neverStarts(element) { return never }
    // A complete and successful task need not wait for the batch system.
    if element.isGood { return settle(element) { _ in .believe } }
    guard let over = element.over else { return missing(element) }
    return decide(element, over)
  }

  /// Decides about a pending task that will never start; `nil` for reasons that can pass.
  private func neverStarts(_ element: ArrayTaskFacts) -> ArrayTaskDecision? {
    func failed(_ text: String) -> ArrayTaskDecision {
      settle(element) { _ in .fail(Failure(message: text, cause: .machine)) }
    }
    switch element.view?.reason {
    case let reason?
    where [
      "BadConstraints", "PartitionConfig", "AccountNotAllowed", "InvalidAccount", "InvalidQOS",
    ].contains(reason):
      return .never(
        "the batch system will never start what was asked for (\(reason)): look at partition, account, "
          + "qos, cpus, memory, time and extra in the profile")
    case "launch failed requeued held", "launch_failed_requeued_held":
      return lost(element, "launch failed")
    case "DependencyNeverSatisfied":
      return failed("its dependency can never be satisfied (DependencyNeverSatisfied)")
    case "JobHeldAdmin":
      return failed("an administrator holds its job (JobHeldAdmin): ask them")
    default: return nil
    }
  }

  private func decide(_ element: ArrayTaskFacts, _ over: TaskView.State) -> ArrayTaskDecision {
    // Results may become visible with a delay.
    let isLate = (element.secondsOver ?? 0) >= limits.visibilitySeconds
    if !isLate, element.captures.contains(where: { $0.outcome != nil && !$0.isVisible }) {
      return .wait
    }
    switch over {
    case .outOfMemory: return outOfMemory(element)
    case .failed where element.view?.signal == 9 && element.view?.exitCode == 0:
      // Sites without control groups poll memory use and kill with signal 9.
      return outOfMemory(element)
    case .timeout: return outOfTime(element)
    case .lost(let word): return lost(element, word)
    case .cancelled where element.end?.way != .done:
      return cancelled(element)
    case .completed, .cancelled, .unknown:
      switch element.end?.way {
      case .done: return settleByLines(element)
      case .outOfTime: return outOfTime(element)
      case .cancelled: return cancelled(element)
      case .refused, nil:
        return isLate
          ? lost(element, "no results came within \(Int(limits.visibilitySeconds)) s")
          : .wait
      }
    case .deadline: return brokenDown(element, "was over its deadline")
    case .failed:
      if element.end?.way == .done { return settleByLines(element) }
      return failed(element)
    case .pending, .running: return .wait
    }
  }

  /// Decides when the batch system has no state that shows an end.
  private func missing(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    if element.end != nil, (element.secondsOver ?? 0) >= limits.causeSeconds {
      return decide(element, .completed)
    }
    if element.end == nil, let gone = element.secondsGone, gone >= limits.goneSeconds {
      return lost(element, "it left the queue without reporting an end")
    }
    return .wait
  }

  // MARK: Decisions by kind of end

  private func settle(
    _ element: ArrayTaskFacts, _ ending: ArrayTaskDecision.Ending = .ended,
    _ decide: (CaptureFacts) -> CaptureDecision
  ) -> ArrayTaskDecision {
    .settle(
      Dictionary(uniqueKeysWithValues: element.captures.map { ($0.name, decide($0)) }), ending)
  }

  /// The decision that a capture's line leads to; `nil` without a line. A line whose artifacts do
  /// not become visible is a failure.
  private func byLine(_ capture: CaptureFacts) -> CaptureDecision? {
    guard let outcome = capture.outcome else { return nil }
    if outcome.isLocked { return .later }
    guard capture.isVisible else {
      let message =
        "its results were reported, but cannot be seen from here after "
        + "\(Int(limits.visibilitySeconds)) s: is the output on a disk that all nodes share?"
      return .fail(Failure(message: message, cause: .machine))
    }
    return .believe
  }

  private func settleByLines(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    settle(element) { capture in
      if capture.outcome?.exceededMemory == true { return more(memoryFor: capture, element) }
      return byLine(capture) ?? again(capture) { _ in "it had no result" }
    }
  }

  private func outOfMemory(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    settle(element) { capture in
      if let outcome = capture.outcome, outcome.isLocked || !outcome.hasFailed {
        return byLine(capture) ?? .believe
      }
      return more(memoryFor: capture, element)
    }
  }

  private func more(memoryFor capture: CaptureFacts, _ element: ArrayTaskFacts) -> CaptureDecision {
    let asked = max(element.request.memoryBytes, capture.history.memoryBytes)
    guard asked < limits.maxMemoryBytes else {
      let most = ByteCount.text(limits.maxMemoryBytes)
      return .fail(
        Failure(
          message: "needed more than \(most) of memory; raise slurm.maxMemory", cause: .program,
          detail: FailureDetail(.outOfMemory, remedy: "raise slurm.maxMemory")))
    }
    return again(capture) { history in
      history.memoryBytes = min(limits.maxMemoryBytes, asked.multiplied(by: 2))
      history.isAlone = true
      return "out of memory at \(ByteCount.text(asked)): again with "
        + ByteCount.text(history.memoryBytes)
    }
  }

  private func outOfTime(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    settle(element) { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.began else {
        return again(capture) { _ in "its time was used up before it began" }
      }
      let asked = capture.history.timeSeconds
      guard !capture.published.isEmpty else {
        let limit = Self.minutes(element.request.timeSeconds)
        return .fail(
          Failure(
            message: "did not end within \(limit); raise slurm.time", cause: .program,
            detail: FailureDetail(.outOfTime, remedy: "raise slurm.time")))
      }
      return again(capture) { history in
        history.timeSeconds = min(
          limits.maxTimeSeconds, Int(clamping: Int64(asked).multiplied(by: 2)))
        history.isAlone = true
        return "out of time: again with \(Self.minutes(history.timeSeconds))"
      }
    }
  }

  private func lost(_ element: ArrayTaskFacts, _ word: String) -> ArrayTaskDecision {
    let node = element.node ?? "an unknown node"
    return settle(element, .lost("\(word) on \(node)")) { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.history.lostOn.count + 1 < limits.losses else {
        let message = "was lost \(limits.losses) times, the last time with \(node) (\(word))"
        return .fail(Failure(message: message, cause: .machine))
      }
      return again(capture) { history in
        history.lostOn.append(node)
        return "\(word) on \(node): again"
      }
    }
  }

  private func cancelled(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    // Only the batch system knows which user cancelled the task.
    if element.view?.state != .cancelled, (element.secondsOver ?? 0) < limits.causeSeconds {
      return .wait
    }
    let who = element.view?.cancelledBy.map { "by uid \($0)" } ?? "by somebody"
    return settle(element) { capture in
      byLine(capture)
        ?? .fail(
          Failure(message: "job \(element.task.text) was cancelled \(who)", cause: .machine))
    }
  }

  private func failed(_ element: ArrayTaskFacts) -> ArrayTaskDecision {
    let view = element.view
    if element.begin == nil {
      switch (view?.exitCode, view?.signal) {
      case (127, _): return broken(element, .programMissing)
      // Without accounting there are no exit codes.
      case (nil, _) where view?.reason == "NonZeroExitCode": return broken(element, .programMissing)
      case (nil, _) where view?.reason == "JobLaunchFailure":
        return broken(element, .logFolderMissing)
      case (0, 53): return broken(element, .logFolderMissing)
      case (let code?, 0), (let code?, nil):
        return broken(element, .exit(code))
      default: break
      }
    }
    let code = view?.exitCode ?? 0
    let how =
      code == 0 ? "was ended by signal \(view?.signal ?? 0)" : "ended with code \(code)"
    return brokenDown(element, how)
  }

  /// Retries each capture once; the second breakdown is a failure.
  private func brokenDown(_ element: ArrayTaskFacts, _ how: String) -> ArrayTaskDecision {
    settle(element) { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.history.breakdowns == 0 else {
        var text = "its job \(element.task.text) \(how) on \(element.node ?? "an unknown node")"
        if !element.log.isEmpty {
          text += "; the last lines of its log:\n" + element.log.joined(separator: "\n")
        }
        return .fail(Failure(message: text, cause: .program))
      }
      return again(capture) { history in
        history.breakdowns += 1
        return "job \(element.task.text) \(how): again"
      }
    }
  }

  private func broken(_ element: ArrayTaskFacts, _ how: Breakdown) -> ArrayTaskDecision {
    let text = how.text(on: element.node ?? "the node")
    return settle(element, .broken(how)) { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.history.breakdowns == 0 else {
        return .fail(Failure(message: text, cause: .machine))
      }
      return again(capture) { history in
        history.breakdowns += 1
        return text
      }
    }
  }

  private func again(
    _ capture: CaptureFacts, _ change: (inout CaptureHistory) -> String
  ) -> CaptureDecision {
    var history = capture.history
    history.attempts += 1
    history.done.formUnion(capture.published)
    let why = change(&history)
    return .again(history, why: why)
  }

  static func minutes(_ seconds: Int) -> String {
    seconds % 3600 == 0 && seconds > 0
      ? "\(seconds / 3600) h" : seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }
}

extension ArrayTaskFacts {
  /// Whether every capture has a successful line with visible artifacts, so that the cause of the
  /// end does not matter.
  fileprivate var isGood: Bool {
    end?.way == .done
      && captures.allSatisfy { capture in
        capture.outcome.map { !$0.hasFailed && !$0.isLocked && !$0.exceededMemory } ?? false
          && capture.isVisible
      }
  }

  /// The final state according to the batch system; `nil` while it reports none.
  fileprivate var over: TaskView.State? {
    switch view?.state {
    case .pending, .running, nil: nil
    case .unknown where end == nil: nil
    case let state?: state
    }
  }
}

extension CaptureOutcome {
  /// Whether another process held the capture.
  var isLocked: Bool { report.outcome == .skipped && codes.contains(ExitStatus.locked) }
  var hasFailed: Bool { report.outcome == .failed || report.outcome == .blocked }
}

extension Breakdown {
  /// What the failure means, and its remedy.
  func text(on node: String) -> String {
    switch self {
    case .programMissing:
      "the program is not visible on \(node), or a 'setup' line failed: put it on a shared disk and "
        + "name it with 'program' in the profile"
    case .logFolderMissing:
      "the folder for logs is not there on \(node) (Slurm's 0:53): the output must lie on a disk that all "
        + "nodes share, under the same path"
    case .refused(let why): why
    case .exit(let code):
      "the job ended on \(node) with code \(code) before the program began: look at its log, and at "
        + "'setup' in the profile"
    }
  }

  /// Whether both have the same remedy.
  func isLike(_ other: Breakdown) -> Bool {
    switch (self, other) {
    case (.programMissing, .programMissing), (.logFolderMissing, .logFolderMissing),
      (.refused, .refused):
      true
    case (.exit(let code), .exit(let otherCode)): code == otherCode
    default: false
    }
  }
}

extension Int64 {
  func multiplied(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}

extension TaskView {
  /// The text of a reason of waiting, for display.
  static func words(ofReason reason: String) -> String {
    switch reason {
    case "Priority": "Priority: others come first"
    case "Resources": "Resources: nodes are busy"
    case "JobArrayTaskLimit": "JobArrayTaskLimit: as many as may run at a time"
    case "JobHeldUser": "JobHeldUser: somebody holds the job; 'scontrol release' releases it"
    case "BeginTime": "BeginTime: not before its time"
    case "None", "": "just submitted"
    case _ where reason.hasPrefix("ReqNodeNotAvail"): "ReqNodeNotAvail: nodes are down or reserved"
    case _ where reason.hasPrefix("QOS") || reason.hasPrefix("Assoc"):
      "\(reason): a limit of the site"
    default: reason
    }
  }
}

/// What is known about a submitted array task from its results and from the batch system. The
/// caller also checks which artifacts are visible.
struct ArrayTaskFacts: Hashable, Sendable {
  var number: Int
  var task: TaskID
  var request: JobRequest
  var captures: [CaptureFacts]
  var begin: ArrayTaskBegin?
  var end: ArrayTaskEnd?
  /// The last state from the batch system; `nil` if it does not know the task, or not yet.
  var view: TaskView?
  /// Seconds since the batch system or the task itself reported the end; `nil` if neither did.
  var secondsOver: Double?
  /// Seconds since the task was first missing in the queue; `nil` if it is not missing.
  var secondsGone: Double?
  /// The last lines of its log, for messages.
  var log: [String] = []

  var node: String? { begin?.host ?? view?.node }
}

/// What is known about one capture of an array task.
struct CaptureFacts: Hashable, Sendable {
  var name: String
  var history: CaptureHistory
  /// The outcome in its results line; `nil` without a line.
  var outcome: CaptureOutcome?
  /// Whether all artifacts named by the line are visible on this machine.
  var isVisible = true
  /// Whether work on it began.
  var began = false
  /// Stages that published results in this array task.
  var published: Set<String> = []
}

/// Limits for retries and waiting.
struct RoundLimits: Hashable {
  var maxMemoryBytes: Int64
  var maxTimeSeconds: Int
  /// A capture fails when this many of its array tasks were lost.
  var losses = 3
  /// How long a result may take to become visible here. Caches of network file systems remember
  /// absence for up to a minute.
  var visibilitySeconds = 90.0
  /// How long the batch system may take to report why a task ended.
  var causeSeconds = 60.0
  /// How long a task must be missing in the queue before it counts as lost.
  var goneSeconds = 30.0
}

/// What to do about an array task.
enum ArrayTaskDecision: Hashable {
  case wait
  /// The task will never start, and neither will others with the same request: a configuration
  /// error.
  case never(String)
  /// The task has ended, or will never start. Has a decision for each of its captures.
  case settle([String: CaptureDecision], Ending)

  /// How the end is reported.
  enum Ending: Hashable {
    case ended
    case lost(String)
    /// The task failed before it could work on a capture.
    case broken(Breakdown)
  }
}

/// Failures that are unrelated to captures.
enum Breakdown: Hashable {
  /// The shell did not find the program (exit code 127).
  case programMissing
  /// The batch system could not write the log (`0:53`).
  case logFolderMissing
  /// The task refused to start; the value is its reason.
  case refused(String)
  /// The script ended with another exit code before the program started.
  case exit(Int)
}

/// What to do about a capture of an array task that has ended.
enum CaptureDecision: Hashable {
  /// Accept the outcome of its line.
  case believe
  /// Retry in another array task.
  case again(CaptureHistory, why: String)
  case fail(Failure)
  /// Another process holds it: retry later.
  case later
}
