import ArgumentParser
import Captures
import Pipeline
import Processes
import Reports
import Runner
import Storage
import SystemPackage

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Process captures: exactly what is not up to date.")

  @Argument(help: "Captures, or folders of captures.")
  var captures: [String]

  @OptionGroup var options: RunArguments

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Say what would be done and why.")
  var dryRun = false

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(name: .short, help: "Only errors on standard error.")
  var quiet = false

  @Flag(name: .short, help: "Also tell of stages that have nothing to do.")
  var verbose = false

  @Flag(help: .hidden)
  var inline = false

  func run() throws {
    let source = try options.pipelineSource()
    let pipeline = try source.definition(Toolbox.stages)
    var runOptions = try options.runOptions(pipeline)
    runOptions.pipelineSource = source
    let batch = BatchRun(registry: Toolbox.captures, pipeline: pipeline, options: runOptions)
    let finder = batch.finder()
    let findings = captures.map { finder.find(FilePath($0)) }
    let targets = batch.targets(findings)
    let declined = findings.flatMap(\.failures)
    for finding in declined { Console.error("error: \(finding.declined ?? "no capture")") }
    if targets.isEmpty { throw Exit(code: ExitStatus.noCapture) }
    if dryRun {
      try plan(batch, targets, declined)
    } else {
      try process(batch, source, targets, declined)
    }
  }

  private func plan(
    _ batch: BatchRun, _ targets: [CaptureTarget], _ declined: [CaptureFinder.Finding]
  ) throws {
    var printer = PlanPrinter(json: json, write: Console.print(bytes:))
    try batch.plan(targets, printer.render) { try printer.print($0) }
    try printer.finish()
    if printer.unreadable == targets.count { throw Exit(code: ExitStatus.noCapture) }
    if printer.unreadable > 0 || !declined.isEmpty || printer.counts.blocked > 0 {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  private func process(
    _ batch: BatchRun, _ source: PipelineSource, _ targets: [CaptureTarget],
    _ declined: [CaptureFinder.Finding]
  ) throws {
    let clock = RunClock.system
    let start = clock.monotonicSeconds()
    let interruption = Interruption()
    let signals = Signals(interruption, graceSeconds: try options.graceSeconds(), clock)
    let journal: RunJournal
    do throws(FileError) {
      journal = try RunJournal(root: FilePath(options.output), clock: clock)
    } catch {
      // Where nothing can be written nothing need be, if everything is up to date.
      if let report = batch.reportIfSettled(targets), declined.isEmpty {
        announce(report, seconds: clock.monotonicSeconds() - start)
        if report.exit != 0 { throw Exit(code: report.exit) }
        return
      }
      // Whatever keeps the run's own folder from being made keeps results from being written.
      throw Failure(code: FailureJudge.exitCode(ofOutput: error), text: error.description)
    }
    let events = EventFan([journal] + options.display(isQuiet: quiet, isVerbose: verbose, clock))
    let report =
      if inline {
        batch.run(
          targets, declined: declined, run: journal.id, events: events,
          cancellation: interruption.abort, interruption: interruption)
      } else {
        try supervisor(batch, source).run(
          targets, declined: declined, run: journal.id, events: events, interruption: interruption)
      }
    var final = report
    final.exit = signals.exitCode ?? report.exit
    do {
      try journal.finish(final)
    } catch {
      Console.error("error: \(error)")
      let isGraver = [ExitStatus.interrupted, ExitStatus.terminated, ExitStatus.internalError]
        .contains(final.exit)
      if !isGraver { final.exit = ExitStatus.cannotWrite }
    }
    announce(final, seconds: clock.monotonicSeconds() - start)
    if final.exit != 0 { throw Exit(code: final.exit) }
  }

  /// Workers are this very program.
  private func supervisor(_ batch: BatchRun, _ source: PipelineSource) throws -> Supervisor {
    guard let program = ProgramPath.ofThisProgram else {
      throw Failure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file to start workers (is /proc mounted?)")
    }
    return Supervisor(
      batch, source: source, program: program, arguments: [WorkerCommand.name])
  }

  private func announce(_ report: RunReport, seconds: Double) {
    if json {
      if let bytes = try? JSONText.pretty(report) { Console.print(json: bytes) }
      return
    }
    if Console.isOutputTerminal {
      Console.print(RunSummary.closing(report, seconds: seconds))
    } else {
      for capture in report.captures { Console.print(RunSummary.line(capture)) }
      if !quiet {
        Console.error(RunSummary.closing(report, seconds: seconds, captureLines: false))
      }
    }
  }
}
