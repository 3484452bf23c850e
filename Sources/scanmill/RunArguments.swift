import ArgumentParser
import Core
import Engine
import FoundationEssentials
import Logging
import Pages
import Synchronization
import SystemPackage

/// The options of `run`, with names known from make, ninja, Snakemake and DVC.
struct RunArguments: ParsableArguments {
  @OptionGroup var processing: ProcessingArguments

  @Option(
    help: ArgumentHelp(
      "These exports in addition to what the pipeline makes (`scanmill list exports`).",
      valueName: "name,…"), completion: Completion.exports)
  var export: [String] = []

  @Option(
    help: ArgumentHelp(
      "These stages or exports and what they need, no more.", valueName: "name,…"),
    completion: Completion.stages)
  var until: [String] = []

  @Option(
    help: ArgumentHelp("Exactly these stages or exports.", valueName: "name,…"),
    completion: Completion.stages)
  var only: [String] = []

  @Option(
    name: [.customShort("R"), .customLong("forcerun")],
    help: ArgumentHelp(
      "These again, whatever their fingerprints say.", valueName: "name,…"),
    completion: Completion.stages)
  var forcerun: [String] = []

  @Flag(name: [.customShort("F"), .customLong("forceall")], help: "Run every stage.")
  var forceall = false

  @Flag(help: "Stop after the first capture that failed.")
  var failFast = false

  @Flag(help: "Compare published outputs by digest, not by size only.")
  var verify = false

  @Flag(help: "Do not wait for a capture that another run is working on.")
  var noWait = false

  @OptionGroup var selection: SelectionArguments

  @Option(
    help: ArgumentHelp(
      "Only captures with a file that changed since 2026-11-20, 2026-11-20T22:00 (local time), or 24h ago.",
      valueName: "date"))
  var since: String?

  func validate() throws {
    if let since { _ = try DateArgument.nanoseconds(since) }
  }

  /// The pipeline with the exports that these options name and it lacks.
  func pipelineSource() throws -> PipelineSource {
    var source = try processing.pipelineSource(with: [export, only, until, forcerun])
    let names = try StageNames(source)
    source.limits = names.selection(of: self).limits
    return source.adding(named: [only, until, export].flatMap(names.resolved))
  }

  func runOptions(_ pipeline: PipelineDefinition) throws -> RunOptions {
    let names = StageNames(pipeline)
    for stage in [only, until, forcerun].flatMap(names.resolved) {
      do throws(SettingError) {
        try pipeline.checkStage(stage)
      } catch {
        let exports = try PipelineFinder.load(PipelineFinder.allExports).stages.map(\.name)
          .filter { $0.hasPrefix(ExportNames.prefix) }.map(ExportNames.short)
        let near = NearestName.suggestion(ExportNames.short(stage), among: exports)
        if near.isEmpty || error.description.contains("did you mean") { throw error }
        throw CommandFailure(ExitStatus.usage, error.description + near)
      }
    }
    var options = processing.runOptions
    options.selection = names.selection(of: self)
    if let problem = options.selection.problem(in: pipeline) { throw ValidationError(problem) }
    options.verify = verify
    options.waitsForLocks = !noWait
    options.failFast = failFast
    return options
  }

  /// Throws if a word among the captures belongs to a list before it: `--export colmap nerfstudio`.
  /// A word for which there is a file or folder is a capture.
  func checkCommas(_ captures: [String], _ pipeline: PipelineDefinition) throws {
    let lists: [(option: String, values: [String])] = [
      ("--export", export), ("--only", only), ("--until", until), ("-R", forcerun),
    ]
    for (option, values) in lists {
      guard let last = values.last else { continue }
      let isExport = option == "--export"
      let known = isExport ? try PipelineFinder.load(PipelineFinder.allExports) : pipeline
      guard
        let word = captures.first(where: { word in
          known[isExport ? ExportNames.prefix + word : word] != nil
            && !FileSystem.exists(FilePath(text: word))
        })
      else { continue }
      throw ValidationError(
        "\(word) is \(isExport ? "an export format" : "a stage"), not a capture; with commas: "
          + "\(option) \(last),\(word)")
    }
  }

  /// The progress display for these options; none if quiet.
  ///
  /// - Parameter targets: the captures of the run.
  func display(
    of targets: [CaptureTarget], isQuiet: Bool, isVerbose: Bool, _ clock: RunClock
  ) -> [any EventSink] {
    if let format = processing.logFormat {
      return [EventLog(processing.logger(format, isQuiet, isVerbose, clock))]
    }
    guard !isQuiet, processing.progress != .none else { return [] }
    let isLive = processing.progress == .auto && Console.isErrorTerminal
    let sizes = WorkSizes(of: targets)
    let display = ProgressDisplay(
      style: isLive ? .terminal { TerminalSize.ofErrors } : .plain,
      ids: targets.map(\.layout.name), work: { sizes[$0] }, isVerbose: isVerbose,
      nowSeconds: clock.monotonicSeconds, write: Console.progress)
    if isLive { Console.shareErrors(with: display) }
    return [display]
  }

}

/// Input sizes of the captures of a run, to estimate the remaining time. A separate thread
/// determines them in the background; it reads only metadata.
final class WorkSizes: Sendable {
  private let bytes = Mutex<[String: Double]>([:])

  /// Does nothing for a single capture, which needs no comparison. If the thread cannot be started,
  /// all sizes remain unknown.
  init(of targets: [CaptureTarget]) {
    guard targets.count > 1 else { return }
    _ = JobThread.start { [self] in
      var sizes = CaptureSizes()
      for target in targets {
        // Adds one byte, because a size of 0 would have no weight.
        let size = Double(sizes.bytes(of: target.recognition)) + 1
        bytes.withLock { $0[target.layout.name] = size }
      }
    }
  }

  /// The size in bytes; `nil` if not known yet.
  subscript(capture: String) -> Double? { bytes.withLock { $0[capture] } }
}

/// `--export colmap,tum`: the formats of the stages in the pipeline `exports`, and exports of the pipeline itself.
enum ExportNames {
  static let prefix = "export-"

  /// `colmap` of `export-colmap`.
  static func short(_ name: String) -> String {
    name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  /// The stages named in `lists`. Throws for unknown names, with the nearest known one.
  static func stages(_ lists: [String], in pipelines: PipelineDefinition...) throws -> [String] {
    let known = pipelines.flatMap(\.stages).map(\.name).filter { $0.hasPrefix(prefix) }
      .map(short).uniqued
    return try SelectionArguments.split(lists).map { name in
      let short = short(name)
      guard known.contains(short) else {
        throw ValidationError(
          "no export '\(name)'" + NearestName.suggestion(short, among: known)
            + "; known: \(known.joined(separator: ", "))")
      }
      return prefix + short
    }.uniqued
  }
}

/// Names of stages and exports on the command line: options repeated, and lists with commas.
struct StageNames {
  private let known: Set<String>

  init(_ pipeline: PipelineDefinition) { known = Set(pipeline.stages.map(\.name)) }

  init(_ source: PipelineSource) throws { self.init(try source.definition(Toolbox.stages)) }

  /// Each name once, in the order given: `["depth,color", "depth"]` is `["depth", "color"]`. An
  /// empty name stays, and is refused as a stage that no pipeline has.
  static func split(_ lists: [String]) -> [String] {
    SelectionArguments.split(lists).uniqued
  }

  /// Names of stages: `["nerfstudio"]` is `["export-nerfstudio"]` where no stage is called `nerfstudio`.
  func resolved(_ lists: [String]) -> [String] {
    Self.split(lists).map { name in
      let stage = ExportNames.prefix + name
      return !known.contains(name) && known.contains(stage) ? stage : name
    }
  }

  func selection(of arguments: RunArguments) -> Selection {
    var selection = Selection()
    // Exports are made in addition, also to a part of the pipeline.
    func part(_ lists: [String]) -> [String] {
      lists.isEmpty ? [] : resolved(lists + arguments.export)
    }
    selection.only = part(arguments.only)
    selection.until = part(arguments.until)
    selection.forced = Set(resolved(arguments.forcerun))
    selection.forceAll = arguments.forceall
    return selection
  }
}
