import ArgumentParser
import Night
import Runner

/// What a run calls for each capture. Nobody else has a use for it.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Work on one capture for a run.", shouldDisplay: false)

  @Flag(help: .hidden)
  var nice = false

  func run() throws {
    if nice { Niceness.lower() }
    try Worker.run(Toolbox.captures, Toolbox.stages)
  }
}
