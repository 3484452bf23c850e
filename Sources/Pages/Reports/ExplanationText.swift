import Engine
import Core

/// Formats an explanation. Changes are marked with `*`.
public enum ExplanationText {
  public static func text(_ explanation: StageExplanation) -> String {
    var parts = [head(explanation), notion(explanation)]
    parts += [
      section("parameters", explanation.parameters.map { comparison($0, explanation) }),
      section("versions", explanation.versions.map { comparison($0, explanation) }),
      section("inputs", explanation.inputs.map { input($0, explanation) }),
      section(
        "fingerprint",
        [
          [
            "\(mark(explanation.fingerprint.changed)) SHA-256",
            change(
              explanation.fingerprint.recorded, explanation.fingerprint.planned,
              explanation.fingerprint.changed, explanation,
              unknown: "known once its inputs are built"),
          ]
        ]),
      section("outputs", [outputs(explanation)]),
    ].compactMap { $0 }
    if let failure = explanation.failure {
      parts.append("last failure, \(failure.time ?? "")\n  \(failure.text)")
    }
    if !explanation.notes.isEmpty {
      parts.append(
        (["notes"] + explanation.notes.map { "  \($0.onOneLine)" }).joined(separator: "\n"))
    }
    return parts.joined(separator: "\n")
  }

  /// One line per stage that was asked for, and one with the others.
  public static func text(_ explanation: CaptureExplanation) -> String {
    var table = TextTable()
    var others: [String] = []
    for stage in explanation.stages {
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
    var lines = [explanation.capture.onOneLine, table.text]
    if !others.isEmpty { lines.append("  not requested: " + others.joined(separator: ", ")) }
    lines += explanation.notes.map { "  \($0.onOneLine)" }
    let notion =
      explanation.comparedWith == .askedFor ? "was asked for" : "this command line asks for"
    lines.append("compared with what \(notion): pipeline \(explanation.pipeline)".onOneLine)
    return lines.joined(separator: "\n")
  }

  private static func head(_ explanation: StageExplanation) -> String {
    let isAsked = explanation.state != .notRequested
    let sentence =
      switch explanation.action {
      case .run where !isAsked:
        "was not asked for; a run that asks for it would make it: \(explanation.reason?.rawValue ?? "")"
      case .upToDate: "is up to date: it would not run"
      case .notApplicable: "does not apply to this capture"
      case .blocked where explanation.state == .obstructed:
        "cannot be made: something that scanmill did not make is in its place"
      case .blocked: "is blocked"
      case .run:
        explanation.state == .blocked
          ? "would run once what it needs is there (\(explanation.reason?.rawValue ?? ""))"
          : "would run: \(explanation.reason?.rawValue ?? "")"
      }
    return
      (["\(explanation.capture)/\(explanation.stage) (\(explanation.uses)) \(sentence)"]
      + explanation.details.map { "  \($0.onOneLine)" }).joined(separator: "\n")
  }

  /// What was compared, and whether the other way of comparing gives a different result.
  private static func notion(_ explanation: StageExplanation) -> String {
    guard let asked = explanation.askedFor else {
      return "compared with what was asked for: pipeline \(explanation.pipeline)".onOneLine
    }
    let text =
      "compared with what this command line asks for: pipeline \(explanation.pipeline)".onOneLine
    let why = [asked.reason?.rawValue, asked.details].compactMap(\.self).joined(separator: ", ")
    let state = asked.state.rawValue + (why.isEmpty ? "" : " (\(why))")
    return text + "\n"
      + (asked.differs
      ? "differs from what was asked for: pipeline \(asked.pipeline): \(state)"
      : "what was asked for is the same: pipeline \(asked.pipeline): \(state)").onOneLine
  }

  private static func section(_ name: String, _ rows: [[String]]) -> String? {
    guard !rows.isEmpty else { return nil }
    var table = TextTable()
    for row in rows { table.add(row) }
    return name + "\n" + table.text
  }

  private static func mark(_ changed: Bool) -> String { changed ? "*" : " " }

  private static func comparison(
    _ item: StageExplanation.Comparison, _ explanation: StageExplanation
  ) -> [String] {
    [
      "\(mark(item.changed)) \(item.name)",
      change(item.recorded, item.planned, item.changed, explanation),
    ]
  }

  private static func input(
    _ item: StageExplanation.Input, _ explanation: StageExplanation
  ) -> [String] {
    [
      "\(mark(item.changed)) \(item.kind.rawValue)", item.name, item.source,
      change(
        item.recorded.map(short), item.planned.map(short), item.changed, explanation,
        unknown: item.isRebuilt ? "known once it is built" : "none"),
    ]
  }

  private static func change(
    _ recorded: String?, _ planned: String?, _ changed: Bool, _ explanation: StageExplanation,
    unknown: String = "none"
  ) -> String {
    if explanation.outputs == nil { return planned ?? unknown }
    return changed
      ? "\(recorded ?? "none") -> \(planned ?? unknown)" : recorded ?? planned ?? unknown
  }

  private static func outputs(_ explanation: StageExplanation) -> [String] {
    guard let outputs = explanation.outputs else { return ["  nothing is published"] }
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
