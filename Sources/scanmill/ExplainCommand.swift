import ArgumentParser
import Engine
import Pages
import Core
import SystemPackage

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Why a stage would or would not run, or what a code means.",
    discussion: """
      With a capture and a stage: each fact that decides whether the stage runs (inputs, parameters, \
      versions, outputs), as it is recorded and as `run` with the same options would have it; and where that \
      differs from what was asked for. Several stages are separated by commas. With only the code of a warning, a cause, a \
      reason, a state, or of a frame that an export left out: what it means in words, what it means for the \
      data, and what to do.
      """)

  @Argument(
    help:
      "A capture, the id of one that has results in the output folder, or the beginning of an id; or a code.",
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
    if stage == nil, output != nil {
      throw ValidationError("name the stage to explain")
    }
  }

  /// The output folder that holds the folder of results which the capture is named by (`OUTPUT/ID`).
  private var ownOutput: String? {
    guard let catalog = try? OutputCatalog(FilePath(text: capture)),
      catalog.layouts.count == 1,
      FilePath(text: capture).lastComponent?.string == catalog.layouts[0].name
    else { return nil }
    return catalog.root.string
  }

  func run() throws {
    guard let stage else { return try explainCode() }
    guard let output = output ?? ownOutput else { return try explainCode() }
    let name = self.output == nil ? FilePath(text: capture).lastComponent?.string : nil
    let layout = try OutputFinder.layout(of: name ?? capture, in: output)
    // Runs before the last one that is known change nothing here.
    for note in DamagedRun.notes(DamagedRun.newest(in: layout.root)) {
      Console.error("note: \(note)")
    }
    let explanations = try StageNames.split([stage]).map { try explanation(of: $0, in: layout) }
    if json, let only = explanations.first {
      Console.print(json: try JSONText.pretty(only))
    } else {
      Console.print(explanations.map(ExplanationText.text).joined(separator: "\n\n"))
    }
  }

  private func explanation(
    of stage: String, in layout: OutputLayout
  ) throws -> StageExplanation {
    var examiner = try comparison.examiner()
    let chosen = try comparison.commandLine(about: stage)
    if let chosen { examiner = try comparison.examiner(comparing: chosen) }
    // Checked before files are digested.
    try examiner.pipeline(of: layout).checkStage(stage)
    let place = OutputFinder.recognition(capture)
    guard
      var explanation = StageExplanation(of: stage, in: try examiner.examine(layout, at: place))
    else {
      throw CommandFailure(code: ExitStatus.internalError, text: "nothing is known of '\(stage)'")
    }
    if chosen != nil || !comparison.set.isEmpty {
      explanation = explanation.ofCommandLine(
        besides: try ComparisonArguments.askedExaminer().examine(layout, at: place))
    }
    return explanation
  }

  private func explainCode() throws {
    guard let entry = CodeReference[capture] else {
      if let hint = BuiltInStages.hint(capture) {
        throw CommandFailure(
          code: ExitStatus.usage,
          text:
            "no code '\(capture)': \(hint) (to explain a stage: explain CAPTURE STAGE --output DIR)"
        )
      }
      let known = CodeReference.entries.map(\.code)
      let nearest = NearestName.suggestion(capture, among: known)
      throw CommandFailure(
        code: ExitStatus.usage,
        text: "no code '\(capture)'"
          + (nearest.isEmpty ? "; known: " + known.joined(separator: ", ") : nearest)
          + " (to explain a stage: explain CAPTURE STAGE --output DIR)")
    }
    if json {
      Console.print(json: try JSONText.pretty(entry))
    } else {
      Console.print(entry.text)
    }
  }
}
