import ArgumentParser
import Captures
import Parallel
import Processes
import Reports
import Runner
import SystemPackage

/// What other verbs call to open captures. Nobody else has a use for it.
struct LookCommand: ParsableCommand {
  static let name = "look"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Open captures for another verb.", shouldDisplay: false)

  func run() throws {
    try LookServer.run(Toolbox.captures, inspect: Inspection.page, draw: ViewCommand.draw)
  }

  /// Processes of this very program.
  ///
  /// - Parameter atOnce: how many questions may be asked at a time.
  static func looker(atOnce: Int) throws -> Looker {
    guard let program = ProgramPath.ofThisProgram else {
      throw Failure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file to start a process (is /proc mounted?)")
    }
    return Looker(program: program, arguments: [name], atOnce: atOnce)
  }
}
