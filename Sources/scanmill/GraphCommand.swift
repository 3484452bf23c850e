import ArgumentParser
import Pipeline
import Reports

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "A pipeline as a drawing.")

  @Argument(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = "default"

  @Option(help: "dot, mermaid or text.")
  var format = GraphText.Format.text

  func run() throws {
    Console.print(GraphText.text(try PipelineFinder.load(pipeline), as: format))
  }
}

extension GraphText.Format: ExpressibleByArgument {}
