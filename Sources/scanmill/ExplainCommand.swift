import ArgumentParser
import Captures
import Core
import Engine
import Pages
import SystemPackage

struct ExplainCommand: ListingVerb {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Why a capture or a stage would or would not be made again, or what a word means.",
    discussion: """
      CAPTURE: every stage with its state and the reason. CAPTURE STAGE: each fact that decides whether the stage \
      runs (inputs, parameters, versions, outputs), as it is recorded and as `run` with the same options would have \
      it. WORD: the code of a warning, a cause, a reason, a state, an option such as due, or another word of this \
      program: what it means, what it means for the data, and what to do. A capture is OUTPUT/ID, or with --output \
      its place or id.
      """)

  @Argument(
    help:
      "A capture, the id of one that has results in the output folder, or the beginning of an id; or a word.",
    completion: Completion.captureOrCode
  )
  var capture: String

  @Argument(
    help: "A stage of the pipeline, or several separated by commas.",
    completion: Completion.stages)
  var stage: String?

  @Option(
    name: [.customShort("o"), .long], help: "Where results go.", completion: Completion.folder)
  var output: String?

  @OptionGroup var comparison: ComparisonArguments

  @Flag(help: "Also steps inside of stages.")
  var all = false

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func validate() throws {
    if stage != nil, output == nil, ownOutput == nil {
      throw ValidationError(
        "to explain a stage, add --output with the folder that holds the results of the capture")
    }
    if json, let stage, StageNames.split([stage]).count > 1 {
      throw ValidationError("--json explains one stage at a time, not \(stage)")
    }
  }

  /// The output folder that holds the folder of results which the capture is named by (`OUTPUT/ID`, or the beginning of
  /// an id).
  private var ownOutput: String? {
    let path = FilePath(text: capture)
    if let catalog = try? OutputCatalog(path), catalog.layouts.count == 1,
      path.lastComponent?.string == catalog.layouts[0].name
    {
      return catalog.root.string
    }
    guard path.components.count > 1, !FileSystem.exists(path),
      let catalog = try? OutputCatalog(path.removingLastComponent()), catalog.isOutput
    else { return nil }
    return catalog.root.string
  }

  func run() throws {
    let isWord = CodeReference[capture] != nil && !FileSystem.exists(FilePath(text: capture))
    guard let output = output ?? ownOutput, stage != nil || !isWord else {
      return try explainWord()
    }
    let name = self.output == nil ? FilePath(text: capture).lastComponent?.string : nil
    let layout = try OutputFinder.layout(of: name ?? capture, in: output, isPath: name == nil)
    // Runs before the last one that is known change nothing here.
    for note in DamagedRun.notes(try DamagedRun.newest(in: layout.root)) {
      Console.error("note: \(note)")
    }
    guard let stage else { return try explain(layout) }
    let explanations = try StageNames.split([stage]).map { try explanation(of: $0, in: layout) }
    if json, let only = explanations.first {
      Console.print(json: try JSONText.pretty(only))
    } else {
      Console.print(explanations.map(\.text).joined(separator: "\n\n"))
    }
  }

  /// The capture, where it is named by its place and not by its results, or has none yet.
  private func place(of layout: OutputLayout) -> Recognition? {
    if !FileSystem.exists(layout.folder),
      let waiting = OutputFinder.waiting(in: layout.root).first(where: { $0.id == layout.name })
    {
      return OutputFinder.recognition(waiting.path)
    }
    return output == nil || capture == layout.name ? nil : OutputFinder.recognition(capture)
  }

  func empty(_ reason: String) -> EmptyAnswer? {
    json ? .explanation(reason, of: capture) : nil
  }

  private func explain(_ layout: OutputLayout) throws {
    let explanation = CaptureExplanation(
      try comparison.examiner(of: layout.root).examine(layout, at: place(of: layout)),
      comparison.isNone ? .askedFor : .commandLine, inner: all)
    if json {
      Console.print(json: try JSONText.pretty(explanation))
    } else {
      Console.print(explanation.text)
    }
  }

  private func explanation(
    of stage: String, in layout: OutputLayout
  ) throws -> StageExplanation {
    let source = try comparison.commandLine(about: stage, in: layout.root)
    let examiner = try ComparisonArguments.examiner(comparing: source)
    // Checked before files are digested.
    let pipeline = examiner.pipeline(of: layout)
    let stage = StageNames(pipeline).resolved([stage]).first ?? stage
    try pipeline.checkStage(stage)
    let examined = examiner.examine(layout, at: place(of: layout))
    guard var explanation = StageExplanation(of: stage, in: examined) else {
      throw CommandFailure(ExitStatus.internalError, "nothing is known of '\(stage)'")
    }
    if source != nil {
      explanation = explanation.ofCommandLine(
        examined,
        besides: try ComparisonArguments.examiner(comparing: nil).examine(
          layout, at: place(of: layout)))
    }
    return explanation
  }

  private func explainWord() throws {
    guard let entry = try CodeReference[capture] ?? OptionWords.entry(capture) else {
      let isPath = FileSystem.exists(FilePath(text: capture))
      let how =
        isPath
        ? "to explain a capture, name its results, OUTPUT/ID, or add --output with the folder that holds them"
        : "to explain a capture or stage: explain CAPTURE STAGE --output DIR"
      let what =
        BuiltInStages.kindHint(capture)
        ?? BuiltInStages.hint(capture).map { ": \($0): `scanmill list stages \(capture)`" }
        ?? BuiltInStages.parameterHint(capture)
        ?? NearestName.suggestion(capture, among: CodeReference.entries.map(\.code))
      throw CommandFailure(
        ExitStatus.usage,
        isPath
          ? "\(capture): \(how)"
          : "no code or word '\(capture)'\(what); `scanmill list codes` lists codes and words (\(how))"
      )
    }
    if json {
      Console.print(json: try JSONText.pretty(entry))
    } else {
      Console.print(entry.text)
    }
  }
}

/// Explains the options of all verbs by their help.
private enum OptionWords {
  /// `nil` if no verb has such an option.
  static func entry(_ word: String) throws -> CodeReference.Entry? {
    // The verbs by what their help says of it, in the order of first appearance.
    var found: [(help: String, verbs: [String])] = []
    for verb in try ToolDescription.ofThisProgram().command.shownVerbs {
      for argument in verb.arguments ?? [] {
        guard (argument.names ?? []).contains(where: { $0.kind == .long && $0.name == word }),
          let help = argument.abstract, !help.isEmpty
        else { continue }
        if let index = found.firstIndex(where: { $0.help == help }) {
          found[index].verbs.append(verb.commandName)
        } else {
          found.append((help, [verb.commandName]))
        }
      }
    }
    guard let verb = found.first?.verbs.first else { return nil }
    let meanings = found.map { help, verbs in
      "The option --\(word) of \(verbs.map { "`\($0)`" }.joined(separator: ", ")): \(help)"
        + (help.hasSuffix(".") ? "" : ".")
    }
    return CodeReference.Entry(
      word: word, meaning: meanings.joined(separator: " "),
      data: "It counts for the call that names it.",
      remedy: "`scanmill \(verb) --help` lists it with its default.")
  }
}

/// What results are compared with: by default all that was asked for of each capture, else what `run` with these options
/// would ask for in addition.
struct ComparisonArguments: ParsableArguments {
  @Option(
    help: "A pipeline by name, or a pipeline file, added to all that was asked for.",
    completion: Completion.pipeline)
  var pipeline: String?

  @Option(
    help: ArgumentHelp(
      "Compare with this value of one parameter (repeatable), as `run` with it would ask; it counts for this command only.",
      valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  func validate() throws {
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: name))
    }
  }

  /// Whether results are compared with what was asked for.
  var isNone: Bool { pipeline == nil && set.isEmpty }

  private var name: String { pipeline ?? "default" }

  /// - Parameter output: where the results are.
  func examiner(of output: FilePath) throws -> OutputExaminer {
    try Self.examiner(comparing: isNone ? nil : source(output))
  }

  /// What `run` with these options would ask for; `nil` if there are none and the default pipeline does not have this
  /// stage, which then belongs to an earlier request.
  func commandLine(about stage: String, in output: FilePath) throws -> PipelineSource? {
    if isNone, try PipelineFinder.load(name)[stage] == nil { return nil }
    return try source(output)
  }

  /// - Parameter output: also the results of one capture in it.
  private func source(_ output: FilePath) throws -> PipelineSource {
    let root = set.isEmpty ? output : (try? OutputCatalog(output))?.root ?? output
    let source = try PipelineFinder.source(name, settings: set, ofOutput: root)
    try source.checkFiles(source.definition(Toolbox.stages))
    return source
  }

  /// - Parameter source: `nil`: what was asked for of each capture.
  static func examiner(comparing source: PipelineSource?) throws -> OutputExaminer {
    OutputExaminer(
      captures: Toolbox.captures, stages: Toolbox.stages,
      chosen: try source?.definition(Toolbox.stages), source: source,
      standard: try PipelineFinder.load("default"),
      look: try InspectionCommand.client(atOnce: MachineLimits.cores).look)
  }
}

/// Opens captures for other verbs. Not meant for users.
struct InspectionCommand: ParsableCommand {
  static let name = "look"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Open captures for another verb.", shouldDisplay: false)

  /// Runs this verb without the argument parser, whose description of all verbs takes longer than
  /// everything else before the first response. Returns `false` if the arguments are not exactly
  /// this verb.
  static func runIfMeant(_ arguments: [String]) throws -> Bool {
    guard arguments == [name] else { return false }
    try serve()
    return true
  }

  func run() throws { try Self.serve() }

  private static func serve() throws {
    try InspectionServer.run(Toolbox.captures, inspect: InspectionPage.init, draw: ViewCommand.draw)
  }

  /// A client whose processes run this program.
  ///
  /// - Parameters:
  ///   - atOnce: number of concurrent requests.
  ///   - mostSeconds: how long an answer is waited for.
  static func client(atOnce: Int, mostSeconds: Double? = nil) throws -> InspectionClient {
    let program = try ProgramPath.own(" to start a process")
    return InspectionClient(
      program: program, arguments: [name], atOnce: atOnce, mostSeconds: mostSeconds)
  }
}
