import ArgumentParser

/// Starts the program that receives uploads, which is installed beside this one.
struct ReceiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: ReceiveArguments.abstract,
    discussion: ReceiveArguments.discussion)

  @OptionGroup var arguments: ReceiveArguments

  func run() throws { try ProgramBeside.become("receive") }
}
