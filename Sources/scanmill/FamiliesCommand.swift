import ArgumentParser
import Engine
import Pages

struct FamiliesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "families",
    abstract: "The app formats that are read, their generations, and how each is recognized.")

  @Flag(help: "Print one JSON object on standard output.")
  var json = false

  func run() throws {
    let help = FamilyHelp(Toolbox.captures)
    if json { Console.print(json: try JSONText.pretty(help)) } else { Console.print(help.text) }
  }
}
