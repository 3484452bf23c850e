import ArgumentParser
import Receiving

@main
struct ScanmillReceive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "scanmill receive")
  func run() async throws {}
}
