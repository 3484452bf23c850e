import Captures
import Core
import SystemPackage

/// All that a run does about one capture: lock, open, plan, process, describe. The same in a worker and
/// inline.
struct CaptureTask {
  let registry: CaptureRegistry
  let asking: RunRequest
  let options: RunOptions
  let clock: RunClock
  let run: String
  let budget: CoreBudget
  let events: any EventSink
  let interruption: Interruption
  /// Told that work goes on; `nil`: there is no listener.
  var heartbeat: Heartbeat?

  /// Never throws: what went wrong is in the outcome.
  func execute(_ target: CaptureTarget) -> CaptureOutcome {
    // The finder gives paths without links.
    EnclosedPaths.enclose(target.recognition.path, links: .inside, followsPath: false)
    var removed: [RemovedResult] = []
    do {
      // Before a folder is made for it.
      if let decided = decided(target) { return decided }
      if let why = try Ownership.refusal(target) {
        return CaptureOutcome(
          target.report(.failed, why), codes: [ExitStatus.cannotWrite])
      }
      var who = "another run"
      let output = try CaptureOutput(making: target.layout)
      guard let lock = try lock(output, &who) else {
        if interruption.isRequested {
          return CaptureOutcome(target.report(.interrupted, Failure(message: "not started")))
        }
        return CaptureOutcome(target.skipped("locked by \(who)"), codes: [ExitStatus.locked])
      }
      defer { withExtendedLifetime(lock) {} }
      // `mark` takes the same lock, so a mark is looked for under it.
      if let decided = decided(target) { return decided }
      let watch = LockWatch(
        output, attempt: attempt,
        spared: try StagingCleanup(output: output, attempt: attempt).perform(), clock: clock,
        events: events)
      let scratch = try ScratchFolder(options, run: run, capture: target.layout.name)
      defer { ScratchFolder.clear(options, run: run, capture: target.layout.name) }
      let session = try CaptureSession(
        target.recognition, registry: registry, layout: target.layout, verify: options.verify,
        scratch: scratch?.output, clock: clock)
      try output.checkDocument()
      let joined = asking.joined(to: CaptureCache(of: target.layout)?.requests ?? Requests())
      let pipeline = joined.planner.pipeline
      removed = try session.removeInapplicable(for: pipeline, in: output, attempt: attempt)
      try session.writeDocument(for: pipeline, in: output)
      try session.remember(joined.requests, in: output)
      session.rememberOwner(in: output)
      var outcome = CaptureRun(self, session, output, joined.planner).execute()
      outcome.report.take(removed)
      watch.look(lock)
      output.tidy()
      try output.checkInPlace()
      session.digests.save(in: output.notes)
      try session.writeDocument(for: pipeline, in: output)
      session.writeIndex(for: pipeline, registry: registry, in: output)
      if outcome.report.hasSucceeded { try? output.notes.remove(OutputNames.triage) }
      return outcome
    } catch {
      // The capture's folder may have been retired or removed during the run.
      if let decided = decided(target) { return decided }
      let failure = FailureClassifier(
        output: target.layout.root, capture: target.recognition.path
      ).failure(error)
      var outcome = CaptureOutcome(target.report(.failed, failure), codes: [failure.exit])
      outcome.report.take(removed)
      outcome.isUnreadable = error is CaptureError && failure.cause != .machine
      outcome.lacksResources = failure.isShortage
      return outcome
    }
  }

  /// The id that names in staging carry.
  var attempt: String { options.attempt(of: run) }

  /// The end of a capture that a person has marked to be left alone since the run was given it.
  private func decided(_ target: CaptureTarget) -> CaptureOutcome? {
    guard target.heedsMarks,
      let mark = MarkBook(ofOutput: target.layout.root).mark(
        of: target.layout, at: CaptureLocation(resolving: target.recognition)),
      mark.isLeftAlone
    else { return nil }
    return CaptureOutcome(target.skipped(mark.words))
  }

  private func lock(_ output: CaptureOutput, _ who: inout String) throws(FileError) -> FileLock? {
    var isAnnounced = false
    var holder = who
    let begin = clock.monotonicSeconds()
    let lock = try FileLock(
      in: output.notes, holder: LockHolder.text("run \(run)", job: options.jobName)
    ) { name in
      holder = name ?? holder
      heartbeat?.wait()
      guard options.waitsForLocks, !interruption.isRequested else { return false }
      if let patience = options.lockPatienceSeconds,
        clock.monotonicSeconds() - begin >= patience
      {
        return false
      }
      if !isAnnounced {
        events.send(.waiting, clock, capture: output.layout.name) {
          $0.message = "locked by \(holder)"
        }
      }
      isAnnounced = true
      return true
    }
    who = holder
    return lock
  }
}

/// How the work on one capture ended.
public struct CaptureOutcome: Hashable, Sendable, Codable {
  public var report: CaptureReport
  /// The exit codes that it asks for, besides that of its report.
  public var codes: Set<Int>
  /// Whether it failed because threads, processes, descriptors or memory were short: it may be taken up
  /// again when others have given some back.
  var lacksResources = false
  /// Whether the capture could not even be opened.
  var isUnreadable = false
  /// Whether its worker came to use more memory than it may.
  public var exceededMemory = false

  private enum CodingKeys: String, CodingKey {
    case report, codes, isUnreadable, exceededMemory
    case lacksResources = "isShort"
  }

  public init(_ report: CaptureReport, codes: Set<Int> = []) {
    self.report = report
    self.codes = codes
  }
}
