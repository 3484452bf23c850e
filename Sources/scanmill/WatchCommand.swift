import ArgumentParser
import Captures
import Core
import Engine
import Logging
import Media
import Pages
import Synchronization
import SystemPackage
import Watch

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Process captures as they arrive in a staging folder.",
    discussion: """
      A capture is processed when nothing in it has changed for --settle and no file that its family needs is \
      missing. Failures are tried again, or quarantined until a person acts. Ends with 143 or 130 when it is told to \
      end, with 75 when another watcher uses the output. SIGHUP reads the pipeline again.
      """)

  @Argument(help: "The folder that captures arrive in.", completion: Completion.folder)
  var staging: String

  @OptionGroup var processing: ProcessingArguments

  @Flag(help: "Process what is ready, then end.")
  var once = false

  @Option(help: "How long nothing may change in a capture before it counts as arrived.")
  var settle = "60s"

  @Option(help: "How often all of STAGING is looked at.")
  var poll = "30s"

  @Option(help: "How long to wait for a capture that lacks files; then it is processed as it is.")
  var patience = "6h"

  @Option(
    help: "How long an upload that is not over may stand still before it needs you.")
  var uploadTimeout = "1h"

  @Option(
    help: ArgumentHelp("Start work only between these times of the day.", valueName: "HH:MM-HH:MM"))
  var between: String?

  @Option(
    help:
      "Failed attempts before a capture is quarantined."
  )
  var attempts = 3

  @Option(help: "The pause after the first failed attempt; doubles with each, up to 24 h.")
  var retryAfter = "15m"

  @Flag(help: "Give way to everything else on the machine: processor, disk and memory.")
  var nice = false

  @Option(
    help: ArgumentHelp(
      "When to report the night; default: the end of --between, else 06:00.", valueName: "HH:MM"))
  var reportAt: String?

  @Option(
    help: ArgumentHelp(
      "Run by /bin/sh after each night, with the report as JSON on its standard input.",
      valueName: "command"))
  var notify: String?

  @Option(
    help: ArgumentHelp("Write metrics for Prometheus here at every look.", valueName: "file"),
    completion: CompletionKind.file())
  var metrics: String?

  @Option(
    help: ArgumentHelp(
      "When everything should be done; a warning is given when it will not be.", valueName: "HH:MM")
  )
  var due: String?

  @Option(
    help: ArgumentHelp(
      "How many pages of earlier nights stay in OUTPUT/nights; 0: none.", valueName: "count"))
  var keepNights = WatchSetup.usualKeptNights

  @Option(
    help: ArgumentHelp(
      "Space of the output's disk that stays free, such as 20GiB; default: 1 GiB or 2 %, whichever is less.",
      valueName: "size"))
  var reserve: String?

  @Flag(help: "With --once: end with 1 also when a capture needs you.")
  var exitCode = false

  @Flag(name: .short, help: "Nothing unless something failed.")
  var quiet = false

  /// For tests.
  @Option(help: .private)
  var capturesPerRun = 500

  /// For tests.
  @Option(help: .private)
  var pageEvery = "5m"

  func validate() throws {
    guard capturesPerRun > 0 else { throw ValidationError("--captures-per-run is 1 or more") }
    for (name, text, isZeroAllowed) in [
      ("--settle", settle, true), ("--poll", poll, false), ("--patience", patience, true),
      ("--retry-after", retryAfter, true), ("--upload-timeout", uploadTimeout, false),
      ("--retry-after", retryAfter, true), ("--page-every", pageEvery, false),
    ] {
      guard let value = DurationSyntax.nanoseconds(text), value >= 0, isZeroAllowed || value > 0
      else {
        throw ValidationError("\(name) is a duration with its unit, such as 60s, not '\(text)'")
      }
    }
    if exitCode, !once { throw ValidationError("--exit-code goes with --once") }
    guard (1...1000).contains(attempts) else { throw ValidationError("--attempts is 1 to 1000") }
    if let reserve, Self.bytes(reserve) == nil {
      throw ValidationError(
        "--reserve is a size with its unit, such as 20GiB, or 0, not '\(reserve)'")
    }
    if let between, TimeWindow(between) == nil {
      throw ValidationError(
        "--between is two times of the day such as 20:00-06:00, not '\(between)'")
    }
    if let reportAt, DailyTime(reportAt) == nil {
      throw ValidationError("--report-at is a time of the day such as 06:00, not '\(reportAt)'")
    }
    if let due, DailyTime(due) == nil {
      throw ValidationError("--due is a time of the day such as 07:00, not '\(due)'")
    }
    guard (0...10_000).contains(keepNights) else {
      throw ValidationError("--keep-nights is 0 to 10000")
    }
    if let metrics, metrics.isEmpty {
      throw ValidationError("--metrics is a file, not an empty string")
    }
    if let notify, notify.isEmpty {
      throw ValidationError("--notify is a command, not an empty string")
    }
  }

  private static func bytes(_ size: String) -> Int64? { size == "0" ? 0 : SizeText.bytes(size) }

  func run() throws {
    try Toolbox.checkLibraries()
    let clock = RunClock.system
    let interruption = Interruption()
    // For the signal thread, once there is a watcher.
    let handle = Mutex<WatcherHandle?>(nil)
    // Must precede the start of other threads.
    let signals = Signals(
      interruption, graceSeconds: try processing.graceSeconds(), clock,
      lastWordsSeconds: Watcher.lastWordsSeconds + 5,
      onRequest: { handle.withLock { $0 }?.wake() }, onHangUp: { handle.withLock { $0 }?.reload() })
    let setup = try setup()
    if let overlap = OutputOverlap.ofStaging(setup.staging, output: setup.output) {
      throw CommandFailure(ExitStatus.usage, overlap)
    }
    let watcher = try watcher(setup, clock, interruption)
    handle.withLock { $0 = watcher.handle }
    if once {
      var hasMore = false
      watcher.heard = { report in
        hasMore = hasMore || RunSummary.hasMore(report)
        announce(report)
      }
      watcher.summedUp = { [processing, quiet] in
        // A quiet watcher says what it leaves undone, which its exit code tells of, too.
        if quiet && !$2 { return }
        if processing.logFormat == .json {
          // What waits is logged as a warning, which a quiet watcher does not print.
          if quiet { processing.logger(.json, true, false, clock).error("\($0)") }
          return
        }
        let output = FilePath(text: processing.output)
        if $1 || hasMore {
          Console.error(
            "read more: scanmill status \(ShellText.quoted(output.shown)); "
              + "as a page: \(output.appending("index.html").shown)")
        }
        Console.error($0)
      }
    }
    if once { try tellOfChangedSettings(setup) }
    let code = watcher.watch()
    let final = signals.exitCode ?? code
    if final != 0 { throw Exit(code: final) }
  }

  /// Says, as `run` does, why captures that were done are processed again.
  private func tellOfChangedSettings(_ setup: WatchSetup) throws {
    if quiet || processing.logFormat == .json || processing.progress == .none { return }
    let batch = try work(setup).supervisor.batch
    let targets = batch.targets([batch.finder().find(setup.staging)])
    for line in batch.outlook(targets).change.lines { Console.error(line) }
  }

  private func setup() throws -> WatchSetup {
    let program = try ProgramPath.own(" to start workers")
    let path = FilePath(text: staging)
    guard try FileSystem.hasFolder(at: path), let real = PathSafety.resolved(path) else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "\(staging): no such folder; name the folder where uploads arrive")
    }
    let output = try FileSystem.absolute(FilePath(text: processing.output))
    var setup = WatchSetup(
      staging: real, output: output, version: Version.text, program: program)
    setup.isQuiet = quiet
    func seconds(_ text: String) -> Double { Double(DurationSyntax.nanoseconds(text) ?? 0) / 1e9 }
    setup.settings.settleSeconds = seconds(settle)
    setup.settings.pollSeconds = seconds(poll)
    setup.settings.patienceSeconds = seconds(patience)
    setup.settings.retryAfterSeconds = seconds(retryAfter)
    setup.settings.uploadTimeoutSeconds = seconds(uploadTimeout)
    setup.settings.attempts = attempts
    setup.settings.mostInRun = capturesPerRun
    setup.settings.reserveBytes = reserve.flatMap(Self.bytes)
    setup.isOnce = once
    setup.needsPersonIsFailure = exitCode
    setup.window = between.flatMap { TimeWindow($0) }
    setup.reportAt = reportAt.flatMap { DailyTime($0) } ?? setup.window?.end ?? DailyTime("06:00")
    setup.due = due.flatMap { DailyTime($0) }
    setup.keptNights = keepNights
    setup.pageSeconds = seconds(pageEvery)
    setup.notify = notify
    setup.metrics = try metrics.map { try FileSystem.absolute(FilePath(text: $0)) }
    return setup
  }

  private func watcher(
    _ setup: WatchSetup, _ clock: RunClock, _ interruption: Interruption
  ) throws -> Watcher {
    do {
      return try Watcher(
        setup, clock: clock,
        log: processing.logger(
          processing.logFormat ?? .text, quiet || processing.progress == .none, false, clock),
        interruption: interruption,
        makeWork: { try work(setup) })
    } catch WatchRefusal.locked(let text) {
      throw CommandFailure(ExitStatus.locked, text)
    } catch let error as FileError {
      throw CommandFailure(
        FailureClassifier.failure(error, .output).exit, error.description)
    }
  }

  /// The current pipeline and its supervisor. Called at the start and after SIGHUP.
  private func work(_ setup: WatchSetup) throws -> WatchWork {
    let source = try processing.pipelineSource()
    let pipeline = try source.definition(Toolbox.stages)
    try source.checkFiles(pipeline)
    var options = processing.runOptions
    options.output = setup.output
    options.pipelineSource = source.withDigestedSecrets(Toolbox.stages)
    options.program = Version.program
    options.isByHand = false
    let supervisor = Supervisor(
      try Toolbox.batch(pipeline, options, atOnce: options.cores), source: source,
      program: setup.program,
      arguments: WorkerCommand.arguments(isNice: nice))
    return WatchWork(
      supervisor, context: RunRecording.context(processing.pipeline, source),
      pipelineText: source.withoutSecrets(Toolbox.stages).text)
  }

  /// Prints the summary of a run, as `run` does.
  private func announce(_ report: RunReport) {
    if quiet, !RunSummary.hasFailures(report) { return }
    if !quiet, !Console.isOutputTerminal {
      for capture in report.captures { Console.print(RunSummary.line(capture)) }
    }
    if processing.logFormat == .json { return }
    Console.error(
      RunSummary.closing(
        report, output: FilePath(text: processing.output), areNamed: true, saysWhere: quiet))
  }
}

/// The worker process that a run starts for each capture. Not meant for users.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"
  private static let niceFlag = "--nice"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Work on one capture for a run.", shouldDisplay: false)

  @Flag(help: .hidden)
  var nice = false

  @Flag(help: .hidden)
  var video = false

  @Flag(help: .hidden)
  var bareVideo = false

  /// The arguments of the process; `Supervisor` adds one of its `videoFlags`.
  static func arguments(isNice: Bool = false) -> [String] { [name] + (isNice ? [niceFlag] : []) }

  /// Runs this verb without the argument parser, whose description of all verbs takes longer than
  /// everything else that a worker does before its work. Returns `false` if the arguments have
  /// another form.
  static func runIfMeant(_ arguments: [String]) throws -> Bool {
    let flags = arguments.dropFirst()
    guard arguments.first == name,
      flags.allSatisfy({ $0 == niceFlag || Supervisor.videoFlags.values.contains($0) })
    else { return false }
    let video = Supervisor.videoFlags.first { flags.contains($0.value) }?.key ?? .absent
    try work(isNice: flags.contains(niceFlag), video)
    return true
  }

  func run() throws {
    try Self.work(isNice: nice, video ? .container : bareVideo ? .bare : .absent)
  }

  private static func work(isNice: Bool, _ video: FamilyDescription.Video) throws {
    if isNice { Niceness.lower() }
    try Worker.run(Toolbox.captures, Toolbox.stages) {
      if video != .absent { _ = FFmpegLibraries.problem(withContainers: video == .container) }
    }
  }
}
