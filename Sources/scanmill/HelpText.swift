import Core
import Engine

/// The options of a verb with many of them, under headings, those first that people use most. `--help-hidden` and the
/// manual pages have all options.
struct HelpSections {
  private var sections: [(title: String, options: [String])]

  static let all: [String: HelpSections] = [
    "run": HelpSections(sections: [
      ("WHAT TO MAKE", ["--export", "--until", "--only", "--forcerun", "--pipeline", "--set"]),
      ("WHICH CAPTURES", ["--id", "--family", "--since", "--exclude"]),
      ("HOW", ["--jobs", "--forceall", "--fail-fast", "--strict"]),
      ("CLUSTER", ["--executor", "--detach"]),
      ("OUTPUT", ["--output", "--dry-run", "--exit-code", "--json", "-q", "-v"]),
    ]),
    "watch": HelpSections(sections: [
      ("WHAT TO MAKE", ["--pipeline", "--set"]),
      (
        "WHEN",
        ["--once", "--settle", "--patience", "--between", "--due", "--attempts", "--retry-after"]
      ),
      ("HOW", ["--jobs", "--nice", "--reserve"]),
      ("OUTPUT", ["--output", "--report-at", "--notify", "--metrics", "--exit-code", "-q"]),
    ]),
    "bench": HelpSections(sections: [
      ("WHAT IS MEASURED", ["--pipeline", "--jobs", "--repeat", "--cold"]),
      (
        "COMPARED WITH", ["--compare", "--floor", "--baseline", "--tolerance", "--compare-reports"]
      ),
      ("WHICH CAPTURES", ["--id", "--family", "--exclude"]),
      ("OUTPUT", ["--json", "--csv", "-q"]),
    ]),
    "status": HelpSections(sections: [
      (
        "WHICH CAPTURES",
        ["--needs-person", "--state", "--id", "--family", "--since", "--search", "--staging"]
      ),
      ("COMPARED WITH", ["--pipeline", "--set"]),
      ("OUTPUT", ["--all", "--json", "--csv", "--exit-code"]),
    ]),
    "receive": HelpSections(sections: [
      ("WHO MAY SEND", ["--token-file", "--allow-anonymous"]),
      ("WHERE", ["--listen", "--prefix", "--output", "--trusted-proxy"]),
      ("LIMITS", ["--maximum-file", "--maximum-capture", "--quota", "--reserve"]),
      ("OUTPUT", ["--log-format", "-q"]),
    ]),
  ]

  /// The help text of the argument parser with its list of options replaced by the sections.
  func replacingOptions(of text: String, _ verb: String) -> String {
    let start = "\nOPTIONS:\n"
    guard let found = text.firstRange(of: start) else { return text }
    // An option begins with two blanks and a hyphen; its text goes on below, further to the right.
    var entries: [[Substring]] = []
    for line in text[found.upperBound...].split(separator: "\n") {
      if line.hasPrefix("  -") {
        entries.append([line])
      } else if !entries.isEmpty {
        entries[entries.count - 1].append(line)
      }
    }
    var lines: [Substring] = []
    for section in sections {
      let shown = section.options.compactMap { option in
        // Only the option's own names are compared, not those that its text mentions.
        entries.first { entry in
          entry[0].split { " ,".contains($0) }.prefix { $0.hasPrefix("-") }.contains(option[...])
        }
      }
      if !shown.isEmpty { lines += ["", "\(section.title):"] + shown.joined() }
    }
    lines += ["", "All options: scanmill \(verb) --help-hidden"]
    return text[..<found.lowerBound] + lines.joined(separator: "\n")
  }
}

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
    let isWhole = ProgramStart.arguments.contains("--help-hidden")
    let options = isWhole ? nil : HelpSections.all[verb]
    let body = (options.map { $0.replacingOptions(of: text, verb) } ?? text).trimmed
      .replacing(usage, with: wrapped(usage: usage), maxReplacements: 1)
    return body + "\n" + section(examples) + codes
  }

  private static func usage(in text: String) -> Substring? {
    text.split(separator: "\n").first { $0.hasPrefix("USAGE: ") }
  }

  /// Broken before options, which the argument parser does not do.
  private static func wrapped(usage: Substring) -> String {
    var lines: [String] = []
    for part in usage.split(separator: #/ (?=\[|--)/#) {
      if let last = lines.last, last.count + 1 + part.count <= 80 {
        lines[lines.count - 1] += " " + part
      } else {
        lines.append((lines.isEmpty ? "" : "         ") + part)
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func section(_ examples: [VerbExample]) -> String {
    guard !examples.isEmpty else { return "" }
    let lines = examples.flatMap { example in
      [
        example.purpose.wrapped(columns: 80, margin: "  # ", hanging: "  # "),
        "  "
          + (example.command.count <= 78
            ? example.command
            : example.command.replacing(" --", with: " \\\n    --", maxReplacements: 1)),
      ]
    }
    return "\n" + (["EXAMPLE" + (examples.count == 1 ? ":" : "S:")] + lines).joined(separator: "\n")
      + "\n"
  }

  private static let briefly =
    "0 done, 1 something failed, 64 wrong command line; all: scanmill --help"

  private static var exitCodes: String {
    let lines = ExitStatus.meanings.map { code, meaning in
      let head = "  \(code)" + String(repeating: " ", count: max(1, 6 - "\(code)".utf8.count))
      return meaning.wrapped(
        columns: 80, margin: head, hanging: String(repeating: " ", count: head.utf8.count))
    }
    return "\n" + (["EXIT CODES:"] + lines).joined(separator: "\n")
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
