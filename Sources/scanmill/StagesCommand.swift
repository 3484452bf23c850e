import ArgumentParser
import Pipeline
import Reports

struct StagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stages", abstract: "The stages, their parameters, units and defaults.")

  @Argument(help: "One stage, in full.")
  var name: String?

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let kinds = Toolbox.stages.stages.filter { name == nil || $0.name == name }
    if let name, kinds.isEmpty {
      throw ValidationError(
        "no stage '\(name)'"
          + NearestName.suggestion(name, among: Toolbox.stages.stages.map { $0.name }))
    }
    let help = StageHelp(kinds)
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }
}
