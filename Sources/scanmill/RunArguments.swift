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
  @OptionGroup var processing: ProcessingArguments

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

  @Flag(
    name: [.customShort("k"), .customLong("keep-going")],
    help: "Go on with other captures after a failure (always on).")
  var keepGoing = false

  @Flag(help: "Stop after the first capture that failed.")
  var failFast = false

  @Flag(help: "Compare published outputs by digest, not by size only.")
  var verify = false

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

  func validate() throws {
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
  }

  func runOptions(_ pipeline: PipelineDefinition) throws -> RunOptions {
    for stage in [only, from].compactMap({ $0 }) + until + forcerun {
      try pipeline.checkStage(stage)
    }
    var options = processing.runOptions
    options.selection.only = only
    options.selection.from = from
    options.selection.until = until
    options.selection.forced = Set(forcerun)
    options.selection.forceAll = forceall
    if let problem = options.selection.problem(in: pipeline) { throw ValidationError(problem) }
    options.verify = verify
    options.waitsForLocks = !noWait
    options.failFast = failFast
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

  /// The progress display that these options ask for; none when quiet.
  ///
  /// - Parameter ids: of the captures of the run.
  func display(
    of ids: [String], isQuiet: Bool, isVerbose: Bool, _ clock: RunClock
  ) -> [any EventSink] {
    if let format = processing.logFormat {
      return [EventLog(processing.logger(format, isQuiet, isVerbose, clock))]
    }
    guard !isQuiet, processing.progress != .none else { return [] }
    let columns = processing.progress == .auto ? Console.terminalColumns : nil
    return [
      ProgressDisplay(
        style: columns.map { .terminal(columns: $0) } ?? .plain, ids: ids, isVerbose: isVerbose,
        nowSeconds: clock.monotonicSeconds, write: Console.progress)
    ]
  }

}
