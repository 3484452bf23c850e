import ArgumentParser
import Captures
import Cluster
import Core
import Engine
import Logging
import Pages
import Synchronization
import SystemPackage
import Watch

struct RunCommand: ListingVerb {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Process captures. Results that are up to date are left as they are.")

  @Argument(help: "Captures, or folders of captures.", completion: Completion.captures)
  var captures: [String]

  @OptionGroup var options: RunArguments

  @OptionGroup var cluster: ClusterArguments

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Say what would be done and why.")
  var dryRun = false

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(name: .short, help: "Nothing unless something failed.")
  var quiet = false

  @Flag(name: .short, help: "Also report stages that have nothing to do.")
  var verbose = false

  @Flag(help: "End with 1 also when a capture needs you; with -n when something would run.")
  var exitCode = false

  @Flag(help: .private)
  var inline = false

  func run() throws {
    try Toolbox.checkLibraries()
    let profile = try cluster.clusterProfile()
    let isOnCluster = profile.executor == .slurm
    let source = try options.pipelineSource()
    let pipeline = try source.definition(Toolbox.stages)
    try options.checkCommas(captures, pipeline)
    try source.checkFiles(pipeline)
    var runOptions = try options.runOptions(pipeline)
    // The recorded source must not contain secrets.
    runOptions.pipelineSource = source.withDigestedSecrets(Toolbox.stages)
    runOptions.program = Version.program
    // Array tasks have a different working folder.
    if isOnCluster { runOptions.output = try FileSystem.absolute(runOptions.output) }
    let batch = try Toolbox.batch(pipeline, runOptions, atOnce: runOptions.cores)
    let progress = SearchProgress(
      isShown: showsProgress, nowSeconds: RunClock.system.monotonicSeconds, write: Console.progress)
    progress.looked(at: 0, found: 0)
    defer { progress.clear() }
    let finder = batch.finder(looked: progress.looked)
    var findings = captures.map { finder.find(FilePath(text: $0)) }
    let named = findings.count
    findings.removeAll(where: \.isTruth)
    let truths = named - findings.count
    let found = batch.targets(findings)
    progress.clear()
    if truths > 0, !quiet || found.isEmpty {
      Console.error("note: \(Plural.text(truths, "folder")) of true values passed over (*.truth)")
    }
    let choice = try options.selection.choice(since: options.since)
    let targets = found.filter { choice.refusal($0, searched: findings.map(\.path)) == nil }
    let declined = findings.flatMap(\.failures)
    let unrecognized = findings.flatMap(\.unrecognized).map {
      RunReport.Unrecognized(path: $0.path.shown, holds: $0.holds)
    }
    // A run reports these at its end, with all other failures.
    if dryRun || found.isEmpty {
      for finding in declined { Console.error("error: \(finding.declined ?? "no capture")") }
      if let text = RunSummary.text(of: unrecognized) { Console.error(text) }
    }
    if found.isEmpty {
      printEmpty(declined.map { $0.declined ?? "no capture" }.joined(separator: "; "))
      throw Exit(code: ExitStatus.noCapture)
    }
    try options.selection.checkIDs(
      among: found.flatMap { [$0.recognition.id, $0.layout.name] })
    if !quiet {
      options.selection.tellIdleExclusions(
        among: found.flatMap { choice.calledNames(of: $0.recognition, findings.map(\.path)) })
      if targets.isEmpty {
        Console.error("note: of \(Plural.text(found.count, "capture")) found none is selected")
      }
    }
    if let overlap = OutputOverlap(
      of: runOptions.output, with: found, registry: Toolbox.captures)
    {
      throw CommandFailure(ExitStatus.usage, overlap.description)
    }
    let supervisor =
      isOnCluster ? try clusterSupervisor(batch, source, profile, pipeline, runOptions) : nil
    let marked = MarkedCaptures(
      output: runOptions.output, findings: findings, isNamedByID: !options.selection.id.isEmpty,
      isQuiet: quiet)
    let isWork = !dryRun && !cluster.printJobs
    let left =
      try (options.forceall ? [] : quarantined(targets.filter { !marked.isNamed($0) }, runOptions))
      + marked.left(targets, changes: isWork)
    var wanted = targets.filter { target in !left.contains { $0.id == target.layout.name } }
    do {
      wanted = try RenamedResults(root: runOptions.output).give(to: wanted, moves: isWork) {
        if quiet { return }
        Console.error("note: \($0) was renamed: its results are those of \($1) now".onOneLine)
      }
    } catch {
      throw CommandFailure(
        FailureClassifier.failure(error, .output).exit, error.description)
    }
    if dryRun {
      for report in left { Console.error("left alone: \(report.id): \(report.why.message ?? "")") }
      if wanted.isEmpty, !left.isEmpty, !json { return }
      try plan(batch, wanted, declined, isElsewhere: isOnCluster)
    }
    if cluster.printJobs, let supervisor {
      Console.print(supervisor.preview(targets))
    }
    if isWork {
      var claimed = Ownership(root: runOptions.output).claim(wanted) { done, all in
        progress.step("making folders", done, of: all)
      }
      for index in claimed.indices { claimed[index].heedsMarks = !marked.isNamed(claimed[index]) }
      progress.clear()
      try process(
        batch, source, claimed, declined, left, unrecognized, supervisor)
    }
  }

  /// How long a run waits before it starts for a capture that is opened for what it needs.
  private static let mostLookSeconds = 5.0

  private func plan(
    _ batch: BatchRun, _ targets: [CaptureTarget], _ declined: [CaptureFinder.Finding],
    isElsewhere: Bool
  ) throws {
    let (change, needs) = batch.outlook(targets, isElsewhere: isElsewhere)
    var printer = PlanPrinter(json: json, isVerbose: verbose, change: change) { bytes in
      if json { Console.print(json: bytes) } else { Console.print(piece: bytes) }
    }
    try batch.plan(targets, printer.render) { try printer.print($0) }
    try printer.finish()
    if !json {
      let name = batch.request?.words ?? options.processing.pipeline
      Console.print("compared with what this command line asks for: pipeline \(name)")
      for line in change.lines + change.heldLines { Console.print(line) }
      // Files that have other times are compared while the plans are made.
      if let needs, printer.counts.toRun > 0 { Console.print(needs) }
    }
    if !printer.refusals.isEmpty {
      throw Exit(code: ExitStatus.gravest(printer.refusals))
    }
    if printer.unreadable > 0, printer.unreadable == targets.count {
      throw Exit(code: ExitStatus.noCapture)
    }
    if printer.unreadable > 0 || !declined.isEmpty || printer.counts.blocked > 0
      || (exitCode && printer.counts.toRun > 0)
    {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  /// Captures that the watcher has quarantined.
  private func quarantined(
    _ targets: [CaptureTarget], _ runOptions: RunOptions
  ) -> [CaptureReport] {
    let key = Triage.pipelineKey(runOptions.pipelineSource, strict: runOptions.strict)
    return targets.compactMap { target in
      Triage.quarantine(target, program: Version.program, pipelineKey: key).map {
        var report = target.skipped("quarantined (\($0.cause?.rawValue ?? ""))")
        report.quarantine = $0
        return report
      }
    }
  }

  private func process(
    _ batch: BatchRun, _ source: PipelineSource, _ targets: [CaptureTarget],
    _ declined: [CaptureFinder.Finding], _ skipped: [CaptureReport],
    _ unrecognized: [RunReport.Unrecognized], _ onCluster: ClusterSupervisor?
  ) throws {
    let clock = RunClock.system
    let isElsewhere = onCluster != nil
    let supervisor = inline || isElsewhere ? nil : try supervisor(batch, source)
    let abandoned = Mutex<RunJournal?>(nil)
    let interruption = Interruption()
    let isTerminalGone = Mutex(false)
    let onHangUp: (@Sendable () -> Void)? =
      isElsewhere ? { @Sendable in isTerminalGone.withLock { $0 = true } } : nil
    // Must precede the start of other threads.
    let signals = Signals(
      interruption, graceSeconds: try options.processing.graceSeconds(), clock,
      beforeForcedEnd: { code in abandoned.withLock { $0 }?.abandon(exit: code) },
      onHangUp: onHangUp)
    let prepared = supervisor?.prepare(targets)
    defer { prepared?.dismiss() }
    if let onCluster {
      try ClusterRuns.concludeAbandoned(in: onCluster.options.output, interruption)
    }
    let journal: RunJournal
    do throws(FileError) {
      journal = try RunJournal(root: FilePath(text: options.processing.output), clock: clock)
    } catch {
      // A read-only output is acceptable if everything is up to date.
      if let report = batch.reportIfUpToDate(targets)?.withoutInnerStages,
        declined.isEmpty
      {
        announce(report)
        try exit(report)
        return
      }
      // Results could not be written either, so this has the exit code of an output error.
      throw CommandFailure(
        FailureClassifier.failure(error, .output).exit, error.description)
    }
    abandoned.withLock { $0 = journal }
    try begin(journal, source)
    if !quiet, options.processing.logFormat != .json {
      // Its process ends with it.
      let (change, needs) = try Toolbox.batch(
        batch.pipeline, batch.options, atOnce: 1, mostSeconds: Self.mostLookSeconds
      ).outlook(targets, isElsewhere: isElsewhere)
      for line in change.lines + change.heldLines { Console.error(line) }
      if let needs { Console.error(needs) }
    }
    let display = options.display(
      of: targets, isQuiet: quiet, isVerbose: verbose, clock)
    let told = ToldCaptures()
    let events = EventFan([journal] + display + (display.isEmpty ? [] : [told]))
    var stop: ClusterStop?
    var final: RunReport
    if let onCluster {
      switch try onCluster.run(
        targets, declined: declined, skipped: skipped, unrecognized: unrecognized,
        isDetached: cluster.detach, notify: cluster.notify,
        holdsSecrets: source.withDigestedSecrets(Toolbox.stages) != source, run: journal.id,
        events: events, interruption: interruption, isLeft: { isTerminalGone.withLock { $0 } })
      {
      case .ended(let report, let why): (final, stop) = (report, why)
      case .detached(let elements, let jobs):
        announce(detached: journal.id, elements: elements, jobs: jobs)
        return
      }
    } else {
      final =
        if let prepared {
          prepared.run(
            declined: declined, run: journal.id, events: events, interruption: interruption)
        } else {
          batch.run(
            targets, declined: declined, run: journal.id, events: events,
            cancellation: interruption.abort, interruption: interruption)
        }
    }
    final.captures += skipped
    final.exit = signals.exitCode ?? final.exit
    final.unrecognized = unrecognized
    final.totals = RunTotals(
      final.captures, unrecognized: unrecognized.count, seconds: final.totals.seconds)
    func failed(_ problem: String) {
      Console.error("error: \(problem)")
      let isGraver = [ExitStatus.interrupted, ExitStatus.terminated, ExitStatus.internalError]
        .contains(final.exit)
      if !isGraver { final.exit = ExitStatus.cannotWrite }
    }
    if let lost = journal.lost { failed(lost) }
    if verbose, !quiet {
      let log = options.processing.logFormat.map {
        options.processing.logger($0, quiet, verbose, clock)
      }
      told.tellRest(of: final, log)
    }
    final = final.withoutInnerStages
    do {
      try journal.finish(final)
    } catch {
      failed("\(error)")
    }
    announce(final)
    if let stop { Console.error("error: \(stop.message)") }
    if signals.exitCode == nil {
      // The report above is final, whatever ends the process from now on.
      abandoned.withLock { $0 = nil }
      noteInCatalog(final, run: journal.id)
    }
    try exit(final)
  }

  func empty(_ reason: String) -> EmptyAnswer? {
    json ? dryRun ? .list(reason, plans: true) : .run(reason) : nil
  }

  /// Throws the exit code of the run, if it is not 0. What is in `run.json` does not depend on `--exit-code`.
  private func exit(_ report: RunReport) throws {
    let code = self.code(of: report)
    if code != 0 { throw Exit(code: code) }
  }

  private func code(of report: RunReport) -> Int {
    let needs = exitCode && report.totals.needsPerson > 0
    return ExitStatus.gravest([report.exit, needs ? ExitStatus.jobFailed : ExitStatus.success])
  }

  /// Whether there is a terminal that lines may be redrawn on.
  private var showsProgress: Bool {
    !quiet && options.processing.progress == .auto && options.processing.logFormat == nil
      && Console.isErrorTerminal
  }

  /// Spares the first `status` after this run a look at all that it has made. Failing to is no harm: that look
  /// finds it then. What takes longer than two seconds shows how far it is on a terminal.
  private func noteInCatalog(_ report: RunReport, run: String) {
    let made = report.captures.filter { capture in
      capture.stages.contains { $0.outcome == .made || $0.outcome == .failed }
    }
    guard made.count >= Self.fewestNoted else { return }
    let progress = SearchProgress(
      isShown: showsProgress, afterSeconds: 2, nowSeconds: RunClock.system.monotonicSeconds,
      write: Console.progress)
    defer { progress.clear() }
    let reader = try? OutputReader()
    try? reader?.note(
      made.map(\.id), run: run, of: FilePath(text: options.processing.output)
    ) { done, all in progress.step("noting captures for status", done, of: all) }
  }

  /// Fewer captures are read within a tenth of a second by whoever asks.
  private static let fewestNoted = 64

  /// Writes `run.json` at the start of the run.
  private func begin(_ journal: RunJournal, _ source: PipelineSource) throws {
    do {
      try journal.begin(
        RunRecording.context(options.processing.pipeline, source),
        pipeline: source.withoutSecrets(Toolbox.stages).text)
    } catch {
      throw CommandFailure(ExitStatus.cannotWrite, "\(error)")
    }
  }

  /// A supervisor whose workers run this program.
  private func supervisor(_ batch: BatchRun, _ source: PipelineSource) throws -> Supervisor {
    let program = try ProgramPath.own(" to start workers")
    return Supervisor(
      batch, source: source, program: program, arguments: WorkerCommand.arguments())
  }

  private func announce(_ report: RunReport) {
    if json {
      if let bytes = try? JSONText.pretty(report) { Console.print(json: bytes) }
    } else if !Console.isOutputTerminal, !quiet || RunSummary.hasFailures(report) {
      for capture in report.captures
      where !quiet || capture.outcome.hasFailed {
        Console.print(RunSummary.line(capture))
      }
    }
    // JSON log lines are for programs and contain the same information.
    if options.processing.logFormat == .json { return }
    let hasOtherTrouble = ![
      ExitStatus.success, ExitStatus.interrupted, ExitStatus.terminated,
    ].contains(code(of: report))
    if quiet, !RunSummary.hasFailures(report), !hasOtherTrouble { return }
    let areNamed = !quiet && options.processing.progress != .none
    Console.error(
      RunSummary.closing(
        report, output: FilePath(text: options.processing.output), areNamed: areNamed))
  }

  /// The supervisor of a run on a cluster.
  func clusterSupervisor(
    _ batch: BatchRun, _ source: PipelineSource, _ profile: ClusterProfile,
    _ pipeline: PipelineDefinition,
    _ runOptions: RunOptions
  ) throws -> ClusterSupervisor {
    let program =
      try profile.program.map { try FileSystem.absolute($0) }
      ?? ProgramPath.own(", which elements run")
    let limits = ClusterLimits(
      profile, cores: options.processing.jobs == 0 ? nil : options.processing.jobs,
      memoryBytes: runOptions.memoryBytes, promised: Admission.expectedMemoryBytes(pipeline),
      asked: pipeline.resources(of: runOptions.selection.stages(of: pipeline)))
    return ClusterSupervisor(
      batch, source: source, profile: profile, limits: limits, options: runOptions,
      graceSeconds: try options.processing.graceSeconds(), program: Version.program,
      programPath: program,
      makeSystem: { SlurmSystem(profile: profile, runFolder: $0) })
  }

  /// Prints the ID or JSON description of a detached run.
  func announce(detached run: String, elements: Int, jobs: [String]) {
    if json {
      let answer: JSONObject = ["schema": 1, "run": run, "elements": elements, "jobs": jobs]
      if let bytes = try? JSONText.pretty(answer) { Console.print(json: bytes) }
    } else {
      Console.print(run)
    }
  }
}

/// Tells of the stages of captures that were up to date as a whole: nothing happens in them, so that no event does.
private final class ToldCaptures: EventSink {
  private let ids = Mutex<Set<String>>([])

  func send(_ event: RunEvent) {
    guard event.kind == .finished || event.kind == .blocked, let id = event.capture else { return }
    ids.withLock { _ = $0.insert(id) }
  }

  /// - Parameter log: `nil`: as text.
  func tellRest(of report: RunReport, _ log: Logger?) {
    let told = ids.withLock { $0 }
    for capture in report.captures where !told.contains(capture.id) {
      for stage in capture.stages
      where stage.outcome == .upToDate || stage.outcome == .notPossible {
        if let log {
          var metadata: Logger.Metadata = [
            "capture": "\(capture.id)", "stage": "\(stage.stage)",
            "outcome": "\(stage.outcome.rawValue)",
          ]
          metadata["message"] = stage.why.message.map { "\($0)" }
          log.info("\(RunEvent.Kind.finished.rawValue)", metadata: metadata)
          continue
        }
        let why = stage.why.message.map { ": \($0)" } ?? ""
        Console.error("\(capture.id) \(stage.stage): \(stage.outcome.words)\(why)".onOneLine)
      }
    }
  }
}
