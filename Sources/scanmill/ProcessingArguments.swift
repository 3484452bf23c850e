import ArgumentParser
import Captures
import Core
import Engine
import FoundationEssentials
import Logging
import Pages
import SystemPackage
import Watch

/// The processing options that `run` and `watch` share.
struct ProcessingArguments: ParsableArguments {
  @Option(name: .shortAndLong, help: "Where results go.", completion: Completion.folder)
  var output: String

  @Option(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = "default"

  @Option(
    name: [.customShort("j", allowingJoined: true), .customLong("jobs")], parsing: .unconditional,
    help: "Cores to keep busy; 0 = all.")
  var jobs = 0

  @Option(
    help: ArgumentHelp(
      "Memory for all captures in progress together, such as 8GB; default: what is free.",
      valueName: "size"))
  var memory: String?

  @Option(
    help: ArgumentHelp(
      "Set one parameter (repeatable). It holds for later runs; stage.param=default takes it back.",
      valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  @Option(
    parsing: .unconditional, help: "Further attempts after input or output errors.")
  var retries = 0

  @Flag(help: "A capture with any warning counts as failed.")
  var strict = false

  @Option(help: "How long running stages may take to end after an interrupt.")
  var grace = "30s"

  @Option(
    help: """
      How long a stage may show no progress before it is stopped. Frames, bytes written, and the output and \
      processor time of an external program count as progress.
      """)
  var stall = "10min"

  @Option(
    help: ArgumentHelp(
      """
      How much a stream may have lost of what the capture declares before the capture needs you, in \
      place of `shortfall` of the pipeline; default: 2%.
      """, valueName: "percent"))
  var shortfall: String?

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
      throw ValidationError("--output is the folder where results go, not an empty string")
    }
    guard jobs >= 0, jobs <= 1024 else {
      throw ValidationError("--jobs is 0 (all cores) to 1024, not \(jobs)")
    }
    guard (0...100).contains(retries) else {
      throw ValidationError("--retries is 0 to 100, not \(retries)")
    }
    if let memory {
      guard let bytes = SizeText.bytes(memory) else {
        throw ValidationError(
          "--memory is a size with its unit, such as 8GB or 512MiB, not '\(memory)'")
      }
      // Any process of this program uses more before it opens a capture.
      guard bytes >= 1_000_000 else {
        throw ValidationError(
          "--memory is a size with its unit, such as 8GB or 512MiB; '\(memory)' is \(bytes) bytes")
      }
    }
    guard DurationSyntax.nanoseconds(grace) != nil else {
      throw ValidationError("--grace is a duration with its unit, such as 30s, not '\(grace)'")
    }
    guard let limit = DurationSyntax.nanoseconds(stall), limit > 0 else {
      throw ValidationError("--stall is a duration with its unit, such as 10min, not '\(stall)'")
    }
    if let shortfall, PercentText.percent(shortfall) == nil {
      throw ValidationError(
        "--shortfall is a percentage with its sign, 0% to 100%, such as 2%, not '\(shortfall)'")
    }
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: pipeline))
    }
  }

  /// The pipeline with the settings of these options.
  ///
  /// - Parameter lists: of `--export`, then of options that name stages and exports. Exports that the pipeline lacks
  ///   are added to it.
  func pipelineSource(with lists: [[String]] = []) throws -> PipelineSource {
    let own = try PipelineFinder.load(pipeline)
    // Most runs name no export, and need not read those that there are.
    func all() throws -> PipelineDefinition { try PipelineFinder.load(PipelineFinder.allExports) }
    var exports: [String] = []
    if let named = lists.first, !named.isEmpty {
      exports = try ExportNames.stages(named, in: all(), own)
    }
    for name in lists.dropFirst().flatMap(StageNames.split) where own[name] == nil {
      exports += (try? ExportNames.stages([name], in: all())) ?? []
    }
    var source = try PipelineFinder.source(
      pipeline, adding: exports.filter { own[$0] == nil }, settings: set,
      ofOutput: FilePath(text: output), mayExport: !lists.isEmpty)
    source.shortfallPercent = shortfall.flatMap(PercentText.percent)
    return source
  }

  var runOptions: RunOptions {
    let cores = jobs == 0 ? MachineLimits.cores : jobs
    var options = RunOptions(output: FilePath(text: output), cores: cores)
    options.strict = strict
    options.stallNanoseconds = DurationSyntax.nanoseconds(stall)
    options.retries = retries
    options.memoryBytes = memory.flatMap(SizeText.bytes)
    return options
  }

  func graceSeconds() throws -> Double {
    Double(DurationSyntax.nanoseconds(grace) ?? 0) / 1e9
  }

  func logger(
    _ format: LogFormat, _ isQuiet: Bool, _ isVerbose: Bool, _ clock: RunClock
  ) -> Logger {
    let style =
      switch format {
      case .text: LogLineHandler.style(environment: ProcessOrder.currentEnvironment)
      case .json: LogLineHandler.Style.json
      }
    let handler = LogLineHandler(style, time: clock.wallText, write: Console.progress)
    ErrorOutput.standard.tellDropped { handler.line(.warning, ErrorOutput.dropped($0)) }
    var logger = Logger(label: "scanmill") { _ in handler }
    logger.logLevel = isQuiet ? .error : isVerbose ? .trace : .info
    return logger
  }
}

/// The message for a `--set` value that is not of the form STAGE.PARAM=VALUE.
enum SettingHint {
  /// The message with suggestions: parameters that end with `text`, from the given pipeline, else
  /// from `exports`.
  static func message(_ text: String, pipeline: String) -> String {
    let suggestion = [pipeline, "exports"].lazy
      .compactMap { (try? PipelineFinder.load($0))?.suggestion(forSetting: text) }
      .first { !$0.isEmpty }
    return "--set takes STAGE.PARAM=VALUE, not '\(text)'" + (suggestion ?? "")
  }
}
