import Engine

/// Adds examples and exit codes to the argument parser's help texts. The page of the program itself
/// has the table of exit codes; those of verbs have one line that leads to it.
enum HelpText {
  /// A help text with both at its end; other texts are unchanged.
  static func completed(_ text: String) -> String {
    guard text.hasPrefix("OVERVIEW: "), let usage = usage(in: text) else { return text }
    // `USAGE: scanmill run [<options>] …`, or for the program itself `USAGE: scanmill
    // <subcommand>`.
    let verb = usage.split(separator: " ").dropFirst(2).first.map(String.init) ?? ""
    let examples =
      VerbExample.all[verb].map { [$0] } ?? (verb == "<subcommand>" ? VerbExample.first : [])
    let codes = verb == "<subcommand>" ? exitCodes : "\nEXIT CODES:\n  " + briefly
    return text.trimmed + "\n" + section(examples) + codes
  }

  private static func usage(in text: String) -> Substring? {
    text.split(separator: "\n").first { $0.hasPrefix("USAGE: ") }
  }

  private static func section(_ examples: [VerbExample]) -> String {
    guard !examples.isEmpty else { return "" }
    let lines = examples.flatMap { example in
      wrapped(example.purpose, "  # ") + ["  " + example.command]
    }
    return "\n" + (["EXAMPLE" + (examples.count == 1 ? ":" : "S:")] + lines).joined(separator: "\n")
      + "\n"
  }

  private static let briefly =
    "0 done, 1 something failed, 64 wrong command line; all: scanmill --help"

  private static var exitCodes: String {
    let lines = ExitStatus.meanings.flatMap { code, meaning in
      let number = "\(code)"
      let head = "  " + number + String(repeating: " ", count: max(1, 6 - number.utf8.count))
      let text = wrapped(meaning, String(repeating: " ", count: head.utf8.count))
      return [head + (text.first?.dropFirst(head.utf8.count) ?? "")] + text.dropFirst()
    }
    return "\n" + (["EXIT CODES:"] + lines).joined(separator: "\n")
  }

  /// Lines of at most 80 columns, each starting with `margin`.
  private static func wrapped(_ text: String, _ margin: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, margin.utf8.count + line.count + 1 + word.count > 80 {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " " + word
    }
    return line.isEmpty ? lines : lines + [margin + line]
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
