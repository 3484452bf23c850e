import ArgumentParser
import Output
import Pipeline
import Reports
import Runner
import Storage
import SystemPackage

struct ParamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "params",
    abstract: "Every parameter that --set takes: default, unit, range, and what it does.")

  @Argument(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = "default"

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    if !FileSystem.exists(FilePath(text: pipeline)), let hint = BuiltInStages.hint(pipeline) {
      throw Failure(
        code: ExitStatus.badPipeline,
        text:
          "no pipeline '\(pipeline)': \(hint); `scanmill params` lists the parameters of the stages, "
          + "`scanmill stages KIND` those of one kind")
    }
    let help = ParameterHelp(try PipelineFinder.load(pipeline))
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }
}
