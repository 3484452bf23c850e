import ArgumentParser

struct SynthesizeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "synthesize", abstract: "")
  func run() throws {}
}
