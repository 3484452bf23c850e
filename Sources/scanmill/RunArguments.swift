import ArgumentParser
import Captures
import FoundationEssentials
import Logging
import Parallel
import Pipeline
import Reports
import Runner
import Storage
import SystemPackage

/// The options of `run`, under the names that users of make, ninja, Snakemake and DVC know.
struct RunArguments: ParsableArguments {
  @Option(name: .shortAndLong, help: "Where results go.")
  var output: String

  @Option(help: "A pipeline by name, or a pipeline file.")
  var pipeline = "default"

  @Option(
    name: [.customShort("j", allowingJoined: true), .customLong("jobs")],
    help: "Cores to keep busy; 0 = all.")
  var jobs = 0

  @Option(
    help: ArgumentHelp(
      "Memory for all captures at work together, such as 8GB; default: what is free.",
      valueName: "size"))
  var memory: String?

  @Option(help: ArgumentHelp("Exactly this stage.", valueName: "stage"))
  var only: String?

  @Option(help: ArgumentHelp("This stage and everything that needs it.", valueName: "stage"))
  var from: String?

  @Option(
    help: ArgumentHelp("This stage and everything it needs (repeatable).", valueName: "stage"))
  var until: [String] = []

  @Option(
    name: [.customShort("R"), .customLong("forcerun")],
    help: ArgumentHelp(
      "Run this stage whatever its fingerprint says (repeatable).", valueName: "stage"))
  var forcerun: [String] = []

  @Flag(name: [.customShort("F"), .customLong("forceall")], help: "Run every stage.")
  var forceall = false

  @Option(help: ArgumentHelp("Set one parameter (repeatable).", valueName: "stage.param=value"))
  var set: [String] = []

  @Flag(
    name: [.customShort("k"), .customLong("keep-going")],
    help: "Go on with other captures after a failure (always on).")
  var keepGoing = false

  @Flag(help: "Stop after the first capture that failed.")
  var failFast = false

  @Option(help: "Attempts beyond the first after input or output errors.")
  var retries = 0

  @Flag(help: "Compare published outputs by digest, not by size only.")
  var verify = false

  @Flag(help: "A capture with any warning counts as failed.")
  var strict = false

  @Flag(help: "Do not wait for a capture that another run works on.")
  var noWait = false

  @Option(
    help: ArgumentHelp(
      "Only captures of this family (repeatable, or names with commas).", valueName: "family"))
  var family: [String] = []

  @Option(
    help: ArgumentHelp(
      "Leave out captures whose id, folder or path matches (repeatable).", valueName: "glob"))
  var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only captures of which a file changed since 2026-11-20, 2026-11-20T22:00 (local time), or 24h ago.",
      valueName: "date"))
  var since: String?

  @Option(
    help: ArgumentHelp("Only captures whose id begins with this (repeatable).", valueName: "prefix")
  )
  var id: [String] = []

  @Option(help: "How long running stages may take to end after an interrupt.")
  var grace = "30s"

  @Option(
    help: """
      How long a stage may show no progress before it is stopped; frames, what it writes, and output and \
      use of the processor of an external program are progress.
      """)
  var stall = "10min"

  @Option(help: "auto, plain or none.")
  var progress = ProgressChoice.auto

  @Option(help: "Log lines on standard error as text or as JSON objects, in place of the display.")
  var logFormat: LogFormat?

  enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  enum ProgressChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, plain, none
  }

  func validate() throws {
    guard !output.isEmpty else {
      throw ValidationError("--output is the folder where results go, not an empty text")
    }
    guard jobs >= 0, jobs <= 1024 else { throw ValidationError("--jobs is 0 to 1024") }
    guard (0...100).contains(retries) else { throw ValidationError("--retries is 0 to 100") }
    if let memory, SizeText.bytes(memory) == nil {
      throw ValidationError("--memory is a size such as 8GB or 512MiB, not '\(memory)'")
    }
    guard DurationText.nanoseconds(grace) != nil else {
      throw ValidationError("--grace is a duration with its unit, such as 30s")
    }
    guard let limit = DurationText.nanoseconds(stall), limit > 0 else {
      throw ValidationError("--stall is a duration with its unit, such as 10min")
    }
    let known = CaptureFamily.allCases.map(\.rawValue)
    for name in families where !known.contains(name) {
      throw ValidationError(
        "no family '\(name)'" + NearestName.suggestion(name, among: known)
          + "; known: \(known.joined(separator: ", "))")
    }
    if let since, MomentText.nanoseconds(since, nowNanoseconds: FileStamp.nowNanoseconds()) == nil {
      throw ValidationError(
        "--since is a date such as 2026-11-20, 2026-11-20T22:00, or a duration back such as 24h, not '\(since)'"
      )
    }
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError("--set takes STAGE.PARAM=VALUE, not '\(text)'")
    }
  }

  func pipelineSource() throws -> PipelineSource {
    try PipelineFinder.source(pipeline, settings: set)
  }

  func runOptions(_ pipeline: PipelineDefinition) throws -> RunOptions {
    for stage in [only, from].compactMap({ $0 }) + until + forcerun {
      try pipeline.checkStage(stage)
    }
    let cores = jobs == 0 ? MachineLimits.cores : jobs
    var options = RunOptions(output: FilePath(text: output), cores: cores)
    options.selection.only = only
    options.selection.from = from
    options.selection.until = until
    options.selection.forced = Set(forcerun)
    options.selection.forceAll = forceall
    if let problem = options.selection.problem(in: pipeline) { throw ValidationError(problem) }
    options.verify = verify
    options.strict = strict
    options.waitsForLocks = !noWait
    options.failFast = failFast
    options.stallNanoseconds = DurationText.nanoseconds(stall)
    options.retries = retries
    options.memoryBytes = memory.flatMap(SizeText.bytes)
    return options
  }

  private var families: [String] {
    family.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Which of the captures that are found are asked for.
  var captureChoice: CaptureChoice {
    var choice = CaptureChoice()
    choice.families = Set(families.compactMap(CaptureFamily.init(rawValue:)))
    choice.excluded = exclude
    choice.idPrefixes = id
    choice.sinceNanoseconds = since.flatMap {
      MomentText.nanoseconds($0, nowNanoseconds: FileStamp.nowNanoseconds())
    }
    return choice
  }

  func graceSeconds() throws -> Double {
    Double(DurationText.nanoseconds(grace) ?? 0) / 1e9
  }

  /// The progress display that these options ask for; none when quiet.
  ///
  /// - Parameter ids: of the captures of the run.
  func display(
    of ids: [String], isQuiet: Bool, isVerbose: Bool, _ clock: RunClock
  ) -> [any EventSink] {
    if let logFormat { return [EventLog(logger(logFormat, isQuiet, isVerbose, clock))] }
    guard !isQuiet, progress != .none else { return [] }
    let columns = progress == .auto ? Console.terminalColumns : nil
    return [
      ProgressDisplay(
        style: columns.map { .terminal(columns: $0) } ?? .plain, ids: ids, isVerbose: isVerbose,
        nowSeconds: clock.monotonicSeconds, write: Console.progress)
    ]
  }

  private func logger(
    _ format: LogFormat, _ isQuiet: Bool, _ isVerbose: Bool, _ clock: RunClock
  ) -> Logger {
    var logger = Logger(label: "scanmill") { label in
      switch format {
      case .text: ShownLogHandler(StreamLogHandler.standardError(label: label))
      case .json: JSONLogHandler(time: clock.wallText, write: Console.progress)
      }
    }
    logger.logLevel = isQuiet ? .error : isVerbose ? .trace : .info
    return logger
  }
}
