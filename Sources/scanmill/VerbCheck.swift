import ArgumentParser
import Engine

/// Checks the command line for errors that the argument parser does not detect or explain.
enum VerbCheck {
  /// Throws if there is no verb, the verb is unknown, or the output is given more than once.
  static func check(_ arguments: [String]) throws {
    guard let verb = arguments.first else {
      Console.error(HelpText.completed(Scanmill.helpMessage()))
      throw Exit(code: ExitStatus.usage)
    }
    if !verb.hasPrefix("-"), verb != "help", !Scanmill.verbs.contains(where: { $0.name == verb }) {
      let known = Scanmill.verbs.filter(\.isShown).map(\.name)
      throw CommandFailure(
        code: ExitStatus.usage,
        text: "no verb '\(verb)'" + NearestName.suggestion(verb, among: known) + "; verbs: "
          + known.joined(separator: ", ") + "\n  See 'scanmill --help'.")
    }
    let outputs = values(of: ["-o", "--output"], in: arguments)
    if outputs.count > 1 {
      throw CommandFailure(
        code: ExitStatus.usage,
        text: "--output is given \(outputs.count) times (\(outputs.joined(separator: ", "))): "
          + "name one folder")
    }
  }

  /// A line that refers to the help of a verb.
  static func seeHelp(of command: any ParsableCommand) -> String {
    "\n  See 'scanmill \(type(of: command).configuration.commandName ?? "") --help'."
  }

  /// The values of all occurrences of an option, up to `--`.
  private static func values(of names: [String], in arguments: [String]) -> [String] {
    var found: [String] = []
    for (index, word) in arguments.enumerated() {
      if word == "--" { break }
      if names.contains(word), index + 1 < arguments.count { found.append(arguments[index + 1]) }
      if word.hasPrefix("--output=") { found.append(String(word.dropFirst("--output=".count))) }
    }
    return found
  }
}
