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
