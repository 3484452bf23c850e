import ArgumentParser
import Pipeline
import Reports
import Runner

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Captures and stages: done, stale (why), failed, blocked, missing.",
    discussion: """
      Compares what is published with what the pipeline of each capture's last run, or the one that \
      is named, would make of the input as it is now. Reads only, also while a run goes on.
      """)

  @Argument(help: "An output folder, or the folder of one capture in it.")
  var folder = "."

  @OptionGroup var comparison: ComparisonArguments

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  @Flag(help: "End with 1 when something needs a person: a stage that is not done.")
  var exitCode = false

  @Flag(help: "With --exit-code: also for captures with warnings or missing files.")
  var strict = false

  func validate() throws {
    if strict, !exitCode { throw ValidationError("--strict goes with --exit-code here") }
  }

  func run() throws {
    let catalog = try OutputFinder.catalog(folder)
    let examiner = try comparison.examiner()
    let status = StatusText(
      try catalog.layouts.map { CaptureStatus(try examiner.examine($0)) })
    if json { Console.print(json: try JSONText.pretty(status)) } else { Console.print(status.text) }
    if exitCode, status.needsPerson(isStrict: strict) { throw Exit(code: ExitStatus.jobFailed) }
  }
}
