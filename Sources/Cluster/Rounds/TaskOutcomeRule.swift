import Core
import Engine

/// Decides about one submitted array task from its results, from the batch system's state, and from
/// which artifacts are visible. A pure function.
struct TaskOutcomeRule {
  let element: LiveElement
  let task: TaskID
  let nowSeconds: Double
  /// The last lines of its log, for messages.
  var log: [String] = []
  let maxMemoryBytes: Int64
  let maxTimeSeconds: Int
  /// A capture fails when this many of its array tasks were lost.
  static let mostLosses = 3
  /// How long a result may take to become visible here. Caches of network file systems remember
  /// absence for up to a minute.
  static let visibilitySeconds = 90.0
  /// How long the batch system may take to report why a task ended.
  static let causeSeconds = 60.0
  /// How long a task must be missing in the queue before it counts as lost.
  static let goneSeconds = 30.0

  var decision: ArrayTaskDecision {
    if element.end?.way == .refused {
      return broken(.refused(element.end?.message ?? "it gave no reason"))
    }
    if element.view?.state == .pending, let never = neverStarts() { return never }
    // A complete and successful task need not wait for the batch system.
    if isGood { return settle { _ in .believe } }
    guard let over else { return missing() }
    return decide(over)
  }

  /// Decides about a pending task that will never start; `nil` for reasons that can pass.
  private func neverStarts() -> ArrayTaskDecision? {
    func failed(_ text: String) -> ArrayTaskDecision {
      settle { _ in .fail(Failure(message: text, cause: .machine)) }
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
      return lost("launch failed")
    case "DependencyNeverSatisfied":
      return failed("its dependency can never be satisfied (DependencyNeverSatisfied)")
    case "JobHeldAdmin":
      return failed("an administrator holds its job (JobHeldAdmin): ask them")
    default: return nil
    }
  }

  private func decide(_ over: TaskView.State) -> ArrayTaskDecision {
    // Results may become visible with a delay.
    let isLate = secondsOver >= Self.visibilitySeconds
    if !isLate, element.captures.contains(where: { outcome(of: $0) != nil && !isVisible($0) }) {
      return .wait
    }
    switch over {
    case .outOfMemory: return outOfMemory()
    case .failed where element.view?.signal == 9 && element.view?.exitCode == 0:
      // Sites without control groups poll memory use and kill with signal 9.
      return outOfMemory()
    case .timeout: return outOfTime()
    case .lost(let word): return lost(word)
    case .cancelled where element.end?.way != .done:
      return cancelled()
    case .completed, .cancelled, .unknown:
      switch element.end?.way {
      case .done: return settleByLines()
      case .outOfTime: return outOfTime()
      case .cancelled: return cancelled()
      case .refused, nil:
        return isLate
          ? lost("no results came within \(Int(Self.visibilitySeconds)) s")
          : .wait
      }
    case .deadline: return brokenDown("was over its deadline")
    case .failed:
      if element.end?.way == .done { return settleByLines() }
      return failed()
    case .pending, .running: return .wait
    }
  }

  /// Decides when the batch system has no state that shows an end.
  private func missing() -> ArrayTaskDecision {
    if element.end != nil, secondsOver >= Self.causeSeconds {
      return decide(.completed)
    }
    if element.end == nil, let gone = element.goneSeconds, nowSeconds - gone >= Self.goneSeconds {
      return lost("it left the queue without reporting an end")
    }
    return .wait
  }

  // MARK: Decisions by kind of end

  private func settle(
    _ ending: ArrayTaskDecision.Ending = .ended,
    _ decide: (ArrayTaskCapture) -> CaptureDecision
  ) -> ArrayTaskDecision {
    .settle(
      Dictionary(uniqueKeysWithValues: element.captures.map { ($0.name, decide($0)) }), ending)
  }

  /// The decision that a capture's line leads to; `nil` without a line. A line whose artifacts do
  /// not become visible is a failure.
  private func byLine(_ capture: ArrayTaskCapture) -> CaptureDecision? {
    guard let outcome = outcome(of: capture) else { return nil }
    if outcome.isLocked { return .later }
    guard isVisible(capture) else {
      let message =
        "its results were reported, but cannot be seen from here after "
        + "\(Int(Self.visibilitySeconds)) s: is the output on a disk that all nodes share?"
      return .fail(Failure(message: message, cause: .machine))
    }
    return .believe
  }

  private func settleByLines() -> ArrayTaskDecision {
    settle { capture in
      if outcome(of: capture)?.exceededMemory == true { return more(memoryFor: capture) }
      return byLine(capture) ?? again(capture) { _ in "it had no result" }
    }
  }

  private func outOfMemory() -> ArrayTaskDecision {
    settle { capture in
      if let outcome = outcome(of: capture), outcome.isLocked || !outcome.hasFailed {
        return byLine(capture) ?? .believe
      }
      return more(memoryFor: capture)
    }
  }

  private func more(memoryFor capture: ArrayTaskCapture) -> CaptureDecision {
    let asked = max(element.request.memoryBytes, capture.history.memoryBytes)
    guard asked < maxMemoryBytes else {
      let most = ByteCount.text(maxMemoryBytes)
      return .fail(
        Failure(
          message: "needed more than \(most) of memory; raise slurm.maxMemory", cause: .program,
          detail: FailureDetail(.outOfMemory, remedy: "raise slurm.maxMemory")))
    }
    return again(capture) { history in
      history.memoryBytes = min(maxMemoryBytes, asked.multiplied(by: 2))
      history.isAlone = true
      return "out of memory at \(ByteCount.text(asked)): again with "
        + ByteCount.text(history.memoryBytes)
    }
  }

  private func outOfTime() -> ArrayTaskDecision {
    settle { capture in
      if let decided = byLine(capture) { return decided }
      guard element.began.contains(capture.name) else {
        return again(capture) { _ in "its time was used up before it began" }
      }
      let asked = capture.history.timeSeconds
      guard !published(of: capture).isEmpty else {
        let limit = Self.minutes(element.request.timeSeconds)
        return .fail(
          Failure(
            message: "did not end within \(limit); raise slurm.time", cause: .program,
            detail: FailureDetail(.outOfTime, remedy: "raise slurm.time")))
      }
      return again(capture) { history in
        history.timeSeconds = min(
          maxTimeSeconds, Int(clamping: Int64(asked).multiplied(by: 2)))
        history.isAlone = true
        return "out of time: again with \(Self.minutes(history.timeSeconds))"
      }
    }
  }

  private func lost(_ word: String) -> ArrayTaskDecision {
    let node = element.node ?? "an unknown node"
    return settle(.lost("\(word) on \(node)")) { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.history.lostOn.count + 1 < Self.mostLosses else {
        let message = "was lost \(Self.mostLosses) times, the last time with \(node) (\(word))"
        return .fail(Failure(message: message, cause: .machine))
      }
      return again(capture) { history in
        history.lostOn.append(node)
        return "\(word) on \(node): again"
      }
    }
  }

  private func cancelled() -> ArrayTaskDecision {
    // Only the batch system knows which user cancelled the task.
    if element.view?.state != .cancelled, secondsOver < Self.causeSeconds {
      return .wait
    }
    let who = element.view?.cancelledBy.map { "by uid \($0)" } ?? "by somebody"
    return settle { capture in
      byLine(capture)
        ?? .fail(
          Failure(message: "job \(task.text) was cancelled \(who)", cause: .machine))
    }
  }

  private func failed() -> ArrayTaskDecision {
    let view = element.view
    if element.begin == nil {
      switch (view?.exitCode, view?.signal) {
      case (127, _): return broken(.programMissing)
      // Without accounting there are no exit codes.
      case (nil, _) where view?.reason == "NonZeroExitCode": return broken(.programMissing)
      case (nil, _) where view?.reason == "JobLaunchFailure":
        return broken(.logFolderMissing)
      case (0, 53): return broken(.logFolderMissing)
      case (let code?, 0), (let code?, nil):
        return broken(.exit(code))
      default: break
      }
    }
    let code = view?.exitCode ?? 0
    let how =
      code == 0 ? "was ended by signal \(view?.signal ?? 0)" : "ended with code \(code)"
    return brokenDown(how)
  }

  /// Retries each capture once; the second breakdown is a failure.
  private func brokenDown(_ how: String) -> ArrayTaskDecision {
    settle { capture in
      if let decided = byLine(capture) { return decided }
      guard capture.history.breakdowns == 0 else {
        var text = "its job \(task.text) \(how) on \(element.node ?? "an unknown node")"
        if !log.isEmpty {
          text += "; the last lines of its log:\n" + log.joined(separator: "\n")
        }
        return .fail(Failure(message: text, cause: .program))
      }
      return again(capture) { history in
        history.breakdowns += 1
        return "job \(task.text) \(how): again"
      }
    }
  }

  private func broken(_ how: Breakdown) -> ArrayTaskDecision {
    let text = how.text(on: element.node ?? "the node")
    return settle(.broken(how)) { capture in
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
    _ capture: ArrayTaskCapture, _ change: (inout CaptureHistory) -> String
  ) -> CaptureDecision {
    var history = capture.history
    history.attempts += 1
    history.done.formUnion(published(of: capture))
    let why = change(&history)
    return .again(history, why: why)
  }

  static func minutes(_ seconds: Int) -> String {
    seconds % 3600 == 0 && seconds > 0
      ? "\(seconds / 3600) h" : seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }
}

extension TaskOutcomeRule {
  /// Whether every capture has a successful line with visible artifacts, so that the cause of the
  /// end does not matter.
  private var isGood: Bool {
    element.end?.way == .done
      && element.captures.allSatisfy { capture in
        outcome(of: capture).map { !$0.hasFailed && !$0.isLocked && !$0.exceededMemory } ?? false
          && isVisible(capture)
      }
  }

  /// The final state according to the batch system; `nil` while it reports none.
  private var over: TaskView.State? {
    switch element.view?.state {
    case .pending, .running, nil: nil
    case .unknown where element.end == nil: nil
    case let state?: state
    }
  }

  /// Seconds since the batch system or the task itself reported the end; 0 if neither did.
  private var secondsOver: Double { element.overSeconds.map { nowSeconds - $0 } ?? 0 }

  /// The outcome in its results line; `nil` without a line.
  private func outcome(of capture: ArrayTaskCapture) -> CaptureOutcome? {
    element.lines[capture.name]?.outcome
  }

  /// Whether all artifacts named by its line are visible on this machine.
  private func isVisible(_ capture: ArrayTaskCapture) -> Bool {
    element.seen.contains(capture.name)
  }

  /// Stages that published results in this array task.
  private func published(of capture: ArrayTaskCapture) -> Set<String> {
    element.published[capture.name] ?? []
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
