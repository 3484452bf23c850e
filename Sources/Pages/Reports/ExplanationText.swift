import Engine
import Core

extension StageExplanation {
  /// For people. Changes are marked with `*`.
  public var text: String {
    var parts = [head, notion]
    parts += [
      section("parameters", parameters.map { comparison($0) }),
      section("versions", versions.map { comparison($0) }),
      section("inputs", inputs.map { input($0) }),
      section(
        "fingerprint",
        [
          [
            "\(mark(fingerprint.changed)) SHA-256",
            change(
              fingerprint.recorded, fingerprint.planned,
              fingerprint.changed,
              unknown: "known once its inputs are built"),
          ]
        ]),
      section("outputs", [outputsLine]),
    ].compactMap { $0 }
    if let failure {
      parts.append("last failure, \(failure.time ?? "")\n  \(failure.text)")
    }
    if !notes.isEmpty {
      parts.append(
        (["notes"] + notes.map { "  \($0.onOneLine)" }).joined(separator: "\n"))
    }
    return parts.joined(separator: "\n")
  }

  private var head: String {
    let isAsked = state != .notRequested
    let sentence =
      switch action {
      case .run where !isAsked:
        "was not asked for; a run that asks for it would make it: \(reason?.rawValue ?? "")"
      case .upToDate: "is up to date: it would not run"
      case .notApplicable: "does not apply to this capture"
      case .blocked where state == .obstructed:
        "cannot be made: something that scanmill did not make is in its place"
      case .blocked: "is blocked"
      case .run:
        state == .blocked
          ? "would run once what it needs is there (\(reason?.rawValue ?? ""))"
          : "would run: \(reason?.rawValue ?? "")"
      }
    return
      (["\(capture)/\(stage) (\(uses)) \(sentence)"]
      + details.map { "  \($0.onOneLine)" }).joined(separator: "\n")
  }

  /// What was compared, and whether the other way of comparing gives a different result.
  private var notion: String {
    guard let asked = askedFor else {
      return "compared with what was asked for: pipeline \(pipeline)".onOneLine
    }
    let text =
      "compared with what this command line asks for: pipeline \(pipeline)".onOneLine
    let why = [asked.reason?.rawValue, asked.details].compactMap(\.self).joined(separator: ", ")
    let state = asked.state.rawValue + (why.isEmpty ? "" : " (\(why))")
    return text + "\n"
      + (asked.differs
      ? "differs from what was asked for: pipeline \(asked.pipeline): \(state)"
      : "what was asked for is the same: pipeline \(asked.pipeline): \(state)").onOneLine
  }

  private func section(_ name: String, _ rows: [[String]]) -> String? {
    guard !rows.isEmpty else { return nil }
    var table = TextTable()
    for row in rows { table.add(row) }
    return name + "\n" + table.text
  }

  private func mark(_ changed: Bool) -> String { changed ? "*" : " " }

  private func comparison(_ item: Comparison) -> [String] {
    [
      "\(mark(item.changed)) \(item.name)",
      change(item.recorded, item.planned, item.changed),
    ]
  }

  private func input(_ item: Input) -> [String] {
    [
      "\(mark(item.changed)) \(item.kind.rawValue)", item.name, item.source,
      change(
        item.recorded.map(Self.short), item.planned.map(Self.short), item.changed,
        unknown: item.isRebuilt ? "known once it is built" : "none"),
    ]
  }

  private func change(
    _ recorded: String?, _ planned: String?, _ changed: Bool, unknown: String = "none"
  ) -> String {
    if outputs == nil { return planned ?? unknown }
    return changed
      ? "\(recorded ?? "none") -> \(planned ?? unknown)" : recorded ?? planned ?? unknown
  }

  private var outputsLine: [String] {
    guard let outputs = outputs else { return ["  nothing is published"] }
    var text =
      "  \(Plural.text(outputs.count, "file")), \(ByteCount.text(outputs.bytes))"
    if outputs.removed { text += ", removed after use" }
    for (names, word) in [(outputs.missing, "missing"), (outputs.altered, "altered")]
    where !names.isEmpty {
      text += "; \(names.count) \(word): " + names.prefix(3).joined(separator: ", ")
      if names.count > 3 { text += ", …" }
    }
    return [text]
  }

  /// A prefix long enough to distinguish digests.
  private static func short(_ digest: String) -> String { String(digest.prefix(12)) }
}

extension CaptureExplanation {
  /// One line per stage that was asked for, and one with the others.
  public var text: String {
    var table = TextTable()
    var others: [String] = []
    for stage in stages {
      if stage.state == .notRequested, stage.details == nil {
        others.append(stage.stage)
        continue
      }
      let why = [
        stage.state == .done ? nil : stage.reason?.rawValue, stage.details.map(Failure.line),
      ]
      table.add(
        ["  " + stage.stage, stage.state.rawValue, why.compactMap(\.self).joined(separator: ", ")])
    }
    var lines = [capture.onOneLine, table.text]
    if !others.isEmpty { lines.append("  not requested: " + others.joined(separator: ", ")) }
    lines += notes.map { "  \($0.onOneLine)" }
    let notion =
      comparedWith == .askedFor ? "was asked for" : "this command line asks for"
    lines.append("compared with what \(notion): pipeline \(pipeline)".onOneLine)
    return lines.joined(separator: "\n")
  }
}
