import ArgumentParser
import Engine
import Pages

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "A pipeline as a drawing.")

  @Argument(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = "default"

  @Option(help: "dot, mermaid or text.")
  var format = GraphText.Format.text

  @Option(
    help: ArgumentHelp(
      "Draw it with this value of one parameter (repeatable): color.pick adds a connection.",
      valueName: "stage.param=value"),
    completion: Completion.setting)
  var set: [String] = []

  func validate() throws {
    for text in set where ParameterSetting(text) == nil {
      throw ValidationError(SettingHint.message(text, pipeline: pipeline))
    }
  }

  func run() throws {
    let source = try PipelineFinder.source(pipeline, settings: set)
    let definition = try source.definition(Toolbox.stages)
    Console.print(GraphText.text(definition.withFollowedConnections(), as: format))
  }
}

extension GraphText.Format: ExpressibleByArgument {}
