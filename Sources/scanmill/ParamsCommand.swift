import ArgumentParser
import Pipeline
import Reports

struct ParamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "params",
    abstract: "Every parameter that --set takes: default, unit, range, and what it does.")

  @Argument(help: "A pipeline by name, or a pipeline file.")
  var pipeline = "default"

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    let help = ParameterHelp(try PipelineFinder.load(pipeline))
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }
}
