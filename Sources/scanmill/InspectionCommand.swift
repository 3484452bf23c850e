import ArgumentParser
import Captures
import Output
import Parallel
import Processes
import Reports
import Runner
import SystemPackage

/// What other verbs call to open captures. Nobody else has a use for it.
struct InspectionCommand: ParsableCommand {
  static let name = "look"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Open captures for another verb.", shouldDisplay: false)

  /// The same verb without the argument parser, whose description of all verbs takes longer than what this one does
  /// before its first answer. `false`: these are the words of another one.
  static func runIfMeant(_ arguments: [String]) throws -> Bool {
    guard arguments == [name] else { return false }
    try serve()
    return true
  }

  func run() throws { try Self.serve() }

  private static func serve() throws {
    try InspectionServer.run(Toolbox.captures, inspect: Inspection.page, draw: ViewCommand.draw)
  }

  /// Processes of this very program.
  ///
  /// - Parameter atOnce: how many questions may be asked at a time.
  static func looker(atOnce: Int) throws -> InspectionClient {
    guard let program = ProgramPath.ofThisProgram else {
      throw Failure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file to start a process (is /proc mounted?)")
    }
    return InspectionClient(program: program, arguments: [name], atOnce: atOnce)
  }
}
