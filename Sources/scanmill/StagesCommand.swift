import ArgumentParser
import Engine
import Pages

struct StagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stages",
    abstract: "The kinds of stages: what they do, their inputs, parameters, units and defaults.",
    discussion: """
      A kind, such as align-depth, is what pipeline files name under `uses`. A stage, such as aligned, is a \
      step of one pipeline; its name is the name of its folder in the output, and what --only, --set and \
      the other options take.
      """)

  @Argument(
    help: "One kind, in full, or several separated by commas.", completion: Completion.kinds)
  var name: String?

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let names = name.map { StageNames.split([$0]) }
    let kinds = Toolbox.stages.stages.filter { names?.contains($0.name) != false }
    for name in names ?? [] where !kinds.contains(where: { $0.name == name }) {
      throw CommandFailure(
        code: ExitStatus.usage,
        text: "no kind of stage '\(name)'"
          + (BuiltInStages.kindHint(name)
            ?? NearestName.suggestion(name, among: Toolbox.stages.stages.map { $0.name })))
    }
    let help = StageHelp(kinds)
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }
}
