import ArgumentParser

/// Starts the program that sends captures, which is installed beside this one.
struct SendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: SendArguments.abstract, discussion: SendArguments.discussion)

  @OptionGroup var arguments: SendArguments

  func run() throws { try ProgramBeside.become("send") }
}
