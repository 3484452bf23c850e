import Core
import ArgumentParser
import Engine

/// A manual page in mdoc(7), of the program or of one verb.
struct ManualPage {
  var verb: ToolDescription.Verb
  /// `nil` for the page of the program itself.
  var program: String?
  /// Formatted as `November 22, 2026`.
  var date: String

  var name: String { (program.map { $0 + "-" } ?? "") + verb.commandName }
  var fileName: String { name + ".1" }

  var text: String {
    (head + synopsis + description + options + verbs + environment + exitStatus + examples
      + seeAlso).joined(separator: "\n") + "\n"
  }

  private var command: String { (program.map { $0 + " " } ?? "") + verb.commandName }

  private var head: [String] {
    let abstract = verb.abstract.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? name
    let about = abstract.prefix(1).lowercased() + abstract.dropFirst()
    return [
      ".\\\" Made by `scanmill generate-manual` from the definitions of the commands.",
      ".Dd \(date)", ".Dt \(name.uppercased()) 1", ".Os", ".Sh NAME",
      ".Nm \(name)", ".Nd \(ManualText.escaped(about))",
    ]
  }

  private var synopsis: [String] {
    var lines = [".Sh SYNOPSIS", ".Nm \(ManualText.argument(command))"]
    guard program != nil else {
      return lines + [".Ar verb", ".Op Ar option ...", ".Op Ar argument ..."]
    }
    for option in verb.arguments(.option, .flag) {
      guard let name = option.preferredName ?? option.names?.first else { continue }
      let macro = Self.flag(name) + Self.value(option)
      lines.append(option.isOptional ? ".Op \(macro)" : ".\(macro)")
    }
    for argument in verb.arguments(.positional) {
      let value =
        "Ar \(ManualText.argument(argument.valueName ?? "value"))"
        + (argument.isRepeating ? " ..." : "")
      lines.append(argument.isOptional ? ".Op \(value)" : ".\(value)")
    }
    return lines
  }

  private var description: [String] {
    // The abstract is in the NAME section.
    return [".Sh DESCRIPTION"] + ManualText.paragraphs(verb.discussion ?? verb.abstract ?? "")
  }

  private var options: [String] {
    let arguments = verb.arguments(.positional) + verb.arguments(.option, .flag)
    guard !arguments.isEmpty else { return [] }
    let intro =
      program == nil ? [".Pp", "Every verb takes:"] : [".Pp", "Arguments and options:"]
    return intro + [".Bl -tag -width Ds"] + arguments.flatMap(Self.item) + [".El"]
  }

  private var verbs: [String] {
    guard program == nil else { return [] }
    let items = verb.shownVerbs.flatMap { verb in
      [".It Xr \(name)-\(verb.commandName) 1"] + ManualText.prose(verb.abstract ?? "")
    }
    return [".Pp", "The verbs, each with a page of its own:", ".Bl -tag -width Ds"] + items
      + [".El"]
  }

  private var environment: [String] {
    guard program == nil else { return [] }
    return [
      ".Sh ENVIRONMENT", ".Bl -tag -width Ds", ".It Ev TZ",
      "The time zone of times of the day on the command line and of times on pages.",
      ".It Ev PATH",
      "Where programs of pipelines and of a cluster are found.", ".El",
    ]
  }

  private var exitStatus: [String] {
    let items = ExitStatus.meanings.flatMap { code, meaning in
      [".It \(code)"] + ManualText.prose(meaning + ".")
    }
    return [
      ".Sh EXIT STATUS", "The codes of all verbs; if several apply, the gravest is returned.",
      ".Bl -tag -width Ds",
    ] + items + [".El"]
  }

  private var examples: [String] {
    let shown =
      program == nil
      ? VerbExample.first : [VerbExample.all[verb.commandName]].compactMap(\.self)
    guard !shown.isEmpty else { return [] }
    return [".Sh EXAMPLES"]
      + shown.enumerated().flatMap { index, example in
        (index > 0 ? [".Pp"] : []) + ManualText.prose(example.purpose)
          + [".Pp", ".Dl $ \(ManualText.escaped(example.command))"]
      }
  }

  private var seeAlso: [String] {
    guard let program else {
      return [
        ".Sh SEE ALSO",
        "The folder \\fBdoc/scanmill\\fR beside the folder of manual pages:",
        "what is written, pipeline files, exports, running for months and on a cluster.",
      ]
    }
    return [".Sh SEE ALSO", ".Xr \(program) 1"]
  }

  /// A list entry for one argument or option.
  private static func item(_ argument: ToolDescription.Argument) -> [String] {
    let value = Self.value(argument)
    let names =
      argument.kind == .positional
      ? "Ar \(ManualText.argument(argument.valueName ?? "value"))"
      : (argument.names ?? []).sorted { $0.name.utf8.count < $1.name.utf8.count }
        .map { flag($0) + value }.joined(separator: " , ")
    var notes: [String] = []
    if let values = argument.allValues, !values.isEmpty {
      notes.append("values: " + values.joined(separator: ", "))
    }
    if let value = argument.defaultValue { notes.append("default: " + value) }
    var text = argument.abstract ?? ""
    if let more = argument.discussion { text += (text.isEmpty ? "" : " ") + more }
    if !notes.isEmpty {
      text += (text.isEmpty ? "" : " ") + "(" + notes.joined(separator: "; ") + ")"
    }
    return [".It \(names)"] + ManualText.prose(text)
  }

  private static func flag(_ name: ToolDescription.Argument.Name) -> String {
    switch name.kind {
    case .long: "Fl Fl \(ManualText.argument(name.name))"
    case .short, .longWithSingleDash: "Fl \(ManualText.argument(name.name))"
    }
  }

  /// The value after an option's name, preceded by a space; empty for flags.
  private static func value(_ option: ToolDescription.Argument) -> String {
    option.kind == .option ? " Ar \(ManualText.argument(option.valueName ?? "value"))" : ""
  }
}

/// Converts text to mdoc(7), the language of manual pages.
enum ManualText {
  /// Lines for filling: each sentence begins on a new line, and lines have at most 78 bytes if
  /// there is a space to break at. Words between backticks become bold.
  static func prose(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words(text) {
      if !line.isEmpty, endsSentence(line) || line.utf8.count + word.utf8.count > 77 {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? word : " " + word
    }
    if !line.isEmpty { lines.append(line) }
    return lines.map(protected)
  }

  /// Paragraphs; those in which all lines are indented are literal.
  static func paragraphs(_ text: String) -> [String] {
    var pieces: [String] = []
    for paragraph in blocks(text) {
      if !pieces.isEmpty { pieces.append(".Pp") }
      if paragraph.allSatisfy({ $0.hasPrefix("  ") }) {
        pieces += [".Bd -literal -compact"] + paragraph.map { protected(escaped($0)) } + [".Ed"]
      } else {
        pieces += prose(paragraph.joined(separator: " "))
      }
    }
    return pieces
  }

  /// A single macro argument for any text.
  static func argument(_ text: String) -> String {
    let plain = escaped(text).replacing("\"", with: "\\(dq")
    // Quoting protects words that are macros, punctuation and spaces.
    let isWord =
      plain.utf8.count > 3
      && plain.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    return isWord ? plain : "\"\(plain)\""
  }

  /// Escapes characters that the formatter interprets, and non-ASCII characters. `-` remains an
  /// ASCII hyphen, as shells need it.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let filled = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        result += "\\[u\(filled)]"
      }
    }
    return result
  }

  /// Escaped words; those between backticks in bold.
  private static func words(_ text: String) -> [String] {
    var isCode = false
    var words: [String] = []
    for (index, piece) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    {
      isCode = index % 2 == 1
      let parts = piece.split(separator: " ", omittingEmptySubsequences: false).map {
        $0.isEmpty ? "" : isCode ? "\\fB\(escaped(String($0)))\\fR" : escaped(String($0))
      }
      // The first part belongs to the preceding word.
      if let first = parts.first {
        if words.isEmpty { words.append(first) } else { words[words.count - 1] += first }
        words += parts.dropFirst()
      }
    }
    return words.filter { !$0.isEmpty }
  }

  private static func endsSentence(_ line: String) -> Bool {
    [".", "?", "!", ".)"].contains { line.hasSuffix($0) }
      && !["e.g.", "i.e."].contains { line.hasSuffix($0) }
  }

  /// Protects a line that begins with a control character.
  private static func protected(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("\\(aq") || line.hasPrefix("'") ? "\\&" + line : line
  }

  private static func blocks(_ text: String) -> [[String]] {
    var blocks: [[String]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.allSatisfy({ $0 == " " }) {
        blocks.append([])
      } else {
        blocks[blocks.count - 1].append(line)
      }
    }
    return blocks.filter { !$0.isEmpty }
  }
}

/// The verbs and their arguments, from the argument parser (`--experimental-dump-help`).
struct ToolDescription: Decodable {
  var command: Verb

  /// The description of the program itself.
  static func ofThisProgram() throws -> ToolDescription {
    try ToolDescription(json: Scanmill._dumpHelp().utf8)
  }

  struct Verb: Decodable {
    var commandName: String
    var abstract: String?
    /// Paragraphs separated by empty lines.
    var discussion: String?
    var shouldDisplay: Bool?
    var subcommands: [Verb]?
    var arguments: [Argument]?

    /// Verbs that users call. `help` is excluded because it is an option as well.
    var shownVerbs: [Verb] {
      (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    func arguments(_ kinds: Argument.Kind...) -> [Argument] {
      (arguments ?? []).filter { $0.shouldDisplay && kinds.contains($0.kind) }
    }
  }

  struct Argument: Decodable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    struct Name: Decodable, Hashable {
      enum Kind: String, Decodable {
        case long, short, longWithSingleDash
      }

      var kind: Kind
      var name: String
    }

    var kind: Kind
    var shouldDisplay: Bool
    var isOptional: Bool
    var isRepeating: Bool
    var names: [Name]?
    var preferredName: Name?
    var valueName: String?
    var defaultValue: String?
    var allValues: [String]?
    var abstract: String?
    var discussion: String?
  }
}

/// The example on a verb's manual page. All examples work in sequence in a folder with
/// `sample-data/`; a test runs them.
struct VerbExample {
  /// The effect, as one sentence.
  var purpose: String
  /// The command line without `scanmill`.
  var words: String

  var command: String { "scanmill " + words }

  static let all: [String: VerbExample] = [
    "run": VerbExample(
      purpose:
        "Process every capture below sample-data. The same command again does only what is not up to date.",
      words: "run sample-data --output out"),
    "watch": VerbExample(
      purpose: "Process the uploads in a folder that have stopped changing, then end.",
      words: "watch sample-data --output out --once --settle 1s"),
    "receive": VerbExample(
      purpose:
        "Receive uploads in the folder incoming, from this machine only, until it is interrupted.",
      words: "receive incoming --listen 127.0.0.1:0"),
    "inspect": VerbExample(
      purpose: "What is in a capture?",
      words: "inspect sample-data/session_2026-11-10T01-38-53Z"),
    "view": VerbExample(
      purpose: "What does a capture look like, and do color and depth belong together?",
      words: "view sample-data/session_2026-11-10T01-38-53Z -o look.png"),
    "status": VerbExample(
      purpose: "Which captures need you?",
      words: "status out --needs-person"),
    "explain": VerbExample(
      purpose: "What does a warning mean, and what should I do?", words: "explain frame-gap"),
    "report": VerbExample(
      purpose: "What became of the captures of the last 24 hours, for a script.",
      words: "report out --since 24h --json"),
    "send": VerbExample(
      purpose: "Send a capture to the receiver of the lab; call it again after a break.",
      words: "send sample-data/session_2026-11-10T01-38-53Z --to http://127.0.0.1:8000"),
    "pack": VerbExample(
      purpose: "One data set of all captures for training, one capture in eight held back.",
      words: "pack out --to webdataset --into set --split capture --shares train=7,val=1"),
    "list": VerbExample(
      purpose: "What can be set in the stage that matches IMU samples to frames?",
      words: "list parameters imu"),
    "graph": VerbExample(
      purpose: "The pipeline for point clouds, as text.", words: "graph point-cloud --format text"),
    "mark": VerbExample(
      purpose: "A capture that lacks frames is good enough: nobody need look at it again.",
      words: "mark done-as-is out/session_2026-11-10T01-38-53Z --note \"good enough\""),
    "clean": VerbExample(
      purpose: "List what failed attempts left behind; --yes removes it.",
      words: "clean out --failed"),
    "bench": VerbExample(
      purpose: "Measure one capture once, without a run to warm up.",
      words: "bench sample-data/session_2026-11-10T01-38-53Z --repeat 1 --warmup 0"),
    "synthesize": VerbExample(
      purpose: "Make a capture of ten frames with known truth.",
      words: "synthesize scannet --output made --frames 10 --seed 7"),
  ]

  /// The examples on the program's own page.
  static let first = ["run", "status"].compactMap { all[$0] }
}
