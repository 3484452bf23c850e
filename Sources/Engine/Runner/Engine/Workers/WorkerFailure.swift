import Captures
import Core
import Glibc
import SystemPackage

/// A worker that ended without giving its outcome: what to say, and what to leave for the next run.
struct WorkerFailure {
  let target: CaptureTarget
  let partialReport: PartialReport
  let run: String
  let options: RunOptions
  let clock: RunClock
  let log: FilePath
  let isInterrupted: Bool

  /// - Parameters:
  ///   - end: how it came to its end; a failure: it was not started.
  ///   - kill: why it was ended from here, if it was.
  func outcome(_ end: Result<ProcessEnd, FileError>, kill: WorkerKill?) -> CaptureOutcome {
    // The log of a hung worker has the stacks of its threads.
    let isStuck = kill?.code == .hung
    var why: String
    let meaning: Failure
    switch end {
    case .success(let end):
      why = "its worker process \(end.phrase)"
      meaning = Self.meaning(of: end.way)
    case .failure(let error):
      why = "its worker process could not be started: \(error)"
      // An error of writing concerns the worker's log, which lies in the output.
      meaning = FailureClassifier.failure(error, error.isWriting ? .output : .ourselves)
    }
    if let kill { why = kill.why }
    if !partialReport.running.isEmpty, kill == nil {
      why += " while it ran \(partialReport.running.joined(separator: ", "))"
    }
    if case .success(let end) = end, end.way == .killed(signal: SIGBUS) {
      why +=
        ": input-changed, most likely: a file was cut short while it was read, or its disk failed;"
        + " run again once the upload has settled"
    }
    var failure =
      kill.map { Failure(cause: .program, detail: $0.code.map { FailureDetail($0) }) }
      ?? meaning
    if meaning.cause == .machine, let bytes = ProcessLimits.addressSpaceBytes {
      why += "; its address space is limited to \(bytes >> 20) MiB (ulimit -v)"
    }
    if kill == nil, failure.exit == ExitStatus.internalError {
      why += "; an error in this program: please report it with this capture's log"
    }
    if isStuck {
      why +=
        "; an error in this program: please report it, with its log, where its threads stood: "
        + log.shown
    }
    let lines = isStuck ? [] : LogFile.tail(of: log, lines: 10)
    if !lines.isEmpty { why += "; the last lines of its log:\n" + lines.joined(separator: "\n") }
    failure.message = why
    leaveNotes(failure)
    var outcome = CaptureOutcome(
      partialReport.report(of: target, failure, isInterrupted: isInterrupted),
      codes: isInterrupted ? [] : [failure.exit])
    outcome.lacksResources = failure.isShortage
    return outcome
  }

  /// What the end of a process means unless we ended it ourselves.
  ///
  /// The signals of a program that does something it must not are mistakes of ours. SIGBUS is a file
  /// that was cut short under its map; SIGKILL comes from outside, most likely for want of memory.
  static func meaning(of way: ProcessEnd.Way) -> Failure {
    let detail = FailureDetail(way)
    switch way {
    // As the system's loader ends a program: a library is missing.
    case .exited(127): return Failure(cause: .machine, detail: detail)
    case .killed(SIGBUS): return Failure(cause: .machine, detail: FailureDetail(.inputChanged))
    case .killed(SIGSEGV), .killed(SIGILL), .killed(SIGTRAP), .killed(SIGABRT), .killed(SIGFPE):
      // A runtime without memory ends that way as well: a limit is no mistake of ours.
      if ProcessLimits.addressSpaceBytes != nil {
        return Failure(cause: .machine, detail: FailureDetail(.addressSpace))
      }
      var failure = Failure(
        cause: .program, detail: FailureDetail(.internalError, signal: detail?.signal))
      failure.exit = ExitStatus.internalError
      return failure
    default: return Failure(cause: .program, detail: detail)
    }
  }

  /// What had been published stays. Only if no other process has taken the capture up meanwhile.
  private func leaveNotes(_ failure: Failure) {
    let layout = target.layout
    ScratchFolder.clear(options, run: run, capture: layout.name)
    // Gone, with all that was in it: nothing is made again in its place.
    guard let output = try? CaptureOutput(existing: layout) else { return }
    // A process that the worker forked last holds its lock until it executes its program, which on a busy
    // machine is some time after the worker's end.
    var triesLeft = 20
    guard
      let lock = try? FileLock(
        in: output.notes, holder: FileLock.holderText("run \(run)", job: options.jobName),
        keepWaiting: { _ in
          triesLeft -= 1
          return triesLeft >= 0
        })
    else { return }
    defer { withExtendedLifetime(lock) {} }
    let attempt = options.attempt(of: run)
    if !isInterrupted {
      var note = failure
      note.time = clock.wallText()
      for stage in partialReport.running {
        let name = OutputLayout.stagingName(stage, attempt: attempt)
        let left = try? output.existingStaging()?.entry(name)
        note.leave(
          for: stage, partial: left?.kind == .folder ? name : nil, output: output,
          attempt: attempt)
      }
    }
    _ = try? StagingCleanup(output: output, attempt: attempt).perform()
    output.tidy()
  }
}

/// What the events of a worker have told about its capture: enough for a report when it ends without
/// giving one.
struct PartialReport {
  private var order: [String] = []
  private var reports: [String: StageReport] = [:]
  private var warnings: [CaptureWarning] = []
  /// Stages at work, in the order in which they started.
  private(set) var running: [String] = []

  mutating func hear(_ event: RunEvent) {
    guard let stage = event.stage else { return }
    switch event.kind {
    case .planned:
      order.append(stage)
      reports[stage] = StageReport(stage: stage, uses: event.uses ?? "", outcome: .interrupted)
    case .started:
      running.removeAll { $0 == stage }
      running.append(stage)
    case .finished, .blocked:
      running.removeAll { $0 == stage }
      guard let outcome = event.outcome else { return }
      var report = StageReport(stage: stage, uses: event.uses ?? "", outcome: outcome)
      report.reason = event.reason
      report.why = event.why
      report.seconds = event.seconds
      report.frames = event.frames
      if let frames = event.frames, let seconds = event.seconds, seconds > 0, outcome == .made {
        report.framesPerSecond = Double(frames) / seconds
      }
      if reports[stage] == nil { order.append(stage) }
      reports[stage] = report
      warnings = warnings.merged(with: event.warnings ?? [])
    case .runStarted, .captureStarted, .waiting, .locksNotShared, .progress, .retried, .stopping,
      .captureFinished, .cluster, .elementStarted, .elementEnded, .elementRetried, .elementLost,
      .runFinished:
      break
    }
  }

  /// The report of a capture whose worker is gone: what ran has failed for the reason given (or was
  /// `interrupted`), what had not started never will.
  func report(
    of target: CaptureTarget, _ failure: Failure, isInterrupted: Bool
  ) -> CaptureReport {
    let why = isInterrupted ? Failure(message: failure.message) : failure
    var report = target.report(isInterrupted ? .interrupted : .failed, why)
    report.warnings = warnings
    report.stages = order.compactMap { stage in
      guard var entry = reports[stage] else { return nil }
      if running.contains(stage) {
        entry.outcome = isInterrupted ? .interrupted : .failed
        entry.why = why
      } else if entry.outcome == .interrupted, entry.why.message == nil {
        entry.why.message = "not started"
      }
      return entry
    }
    if !running.isEmpty { (report.why.message, report.why.detail) = (nil, nil) }
    if isInterrupted, report.stages.contains(where: { $0.outcome == .failed }) {
      report.outcome = .failed
    }
    report.why.cause = FailureCause.deciding(
      (report.stages.map(\.why.cause) + [report.why.cause]).compactMap(\.self))
    return report
  }
}

extension CaptureReport {
  /// Counts as made what an earlier worker of the same run has made or had at work, and what the last one
  /// therefore found up to date.
  mutating func takeOver(_ earlier: [StageReport]) {
    for index in self.stages.indices where self.stages[index].outcome == .upToDate {
      guard let made = earlier.first(where: { $0.stage == self.stages[index].stage }),
        made.outcome == .made || made.outcome == .failed
      else { continue }
      self.stages[index].outcome = .made
      if made.outcome == .made {
        self.stages[index].reason = made.reason
        self.stages[index].seconds = made.seconds
        self.stages[index].frames = made.frames
        self.stages[index].framesPerSecond = made.framesPerSecond
      }
      if self.outcome == .upToDate { self.outcome = .made }
    }
  }
}

/// Why a worker was ended from here.
struct WorkerKill {
  var why: String
  /// The limit that it has reached; `nil`: it was to end.
  var code: FailureDetail.Code?

  /// Writes into its log where its threads stand, and kills it. Takes up to three seconds, in which it may end by
  /// itself.
  static func perform(_ child: ChildProcess, why: String, log: LogFile) {
    // Should it end meanwhile, its number may soon be that of another process.
    let beginning = ProcessHome.startTicks(child.id)
    log.write("scanmill: \(why); where the threads of process \(child.id) stand:")
    ThreadStacks.tell(of: child.id, write: { log.write($0) }) {
      (try? FileIdentity(of: log.path))?.bytes ?? 0
    }
    if ProcessHome.startTicks(child.id) == beginning { child.kill() }
  }
}
