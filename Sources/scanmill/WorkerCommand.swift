import ArgumentParser
import Codecs
import Night
import Processes
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

  /// A copy of this process that becomes a worker sooner than the program does, since all that a worker
  /// needs first is loaded in it. Call it before any thread is started.
  static func prepare() -> PreparedProcess? {
    PreparedProcess(prepare: { _ = FFmpegLibraries.problem }, body: { Main.run($0) })
  }
}
