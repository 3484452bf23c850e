import ArgumentParser
import Captures
import Engine
import Core
import Pages
import SystemPackage

/// Opens captures for other verbs. Not meant for users.
struct InspectionCommand: ParsableCommand {
  static let name = "look"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Open captures for another verb.", shouldDisplay: false)

  /// Runs this verb without the argument parser, whose description of all verbs takes longer than
  /// everything else before the first response. Returns `false` if the arguments are not exactly
  /// this verb.
  static func runIfMeant(_ arguments: [String]) throws -> Bool {
    guard arguments == [name] else { return false }
    try serve()
    return true
  }

  func run() throws { try Self.serve() }

  private static func serve() throws {
    try InspectionServer.run(Toolbox.captures, inspect: Inspection.page, draw: ViewCommand.draw)
  }

  /// A client whose processes run this program.
  ///
  /// - Parameter atOnce: number of concurrent requests.
  static func client(atOnce: Int) throws -> InspectionClient {
    guard let program = ProgramPath.ofThisProgram else {
      throw CommandFailure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file to start a process (is /proc mounted?)")
    }
    return InspectionClient(program: program, arguments: [name], atOnce: atOnce)
  }
}
