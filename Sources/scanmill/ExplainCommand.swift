import ArgumentParser
import Pipeline
import Reports
import Runner

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Why a stage would or would not run, with everything that is compared.")

  @Argument(help: "A capture, or the id of one that has results in the output folder.")
  var capture: String

  @Argument(help: "A stage of the pipeline.")
  var stage: String

  @Option(help: "Where results go.")
  var output: String

  @OptionGroup var comparison: ComparisonArguments

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    let layout = try OutputFinder.layout(of: capture, in: output)
    let examiner = try comparison.examiner()
    // Before files are digested.
    try examiner.pipeline(CaptureMemo(of: layout)).0.checkStage(stage)
    let examined = try examiner.examine(layout, at: OutputFinder.recognition(capture))
    guard let explanation = StageExplanation(of: stage, in: examined) else {
      throw Failure(code: ExitStatus.internalError, text: "nothing is known of '\(stage)'")
    }
    if json {
      Console.print(json: try JSONText.pretty(explanation))
    } else {
      Console.print(ExplanationText.text(explanation))
    }
  }
}
