import Captures
import Core
import Engine
import SystemPackage

/// The texts at the end of a run.
public enum RunSummary {
  /// `<capture-id> <outcome> <stages done>/<stages>`, then fields `KEY=VALUE`: the line for
  /// scripts.
  public static func line(_ capture: CaptureReport) -> String {
    var words = [
      capture.id, capture.outcome.rawValue, "\(capture.stagesDone)/\(capture.stagesApplicable)",
    ]
    let warnings = capture.warningCount
    if !warnings.isNone {
      words += ["warnings=\(warnings.kinds)", "occurrences=\(warnings.occurrences)"]
    }
    if !capture.missing.isEmpty {
      words.append("missing=" + capture.missing.map(word).joined(separator: ","))
    }
    if let shortfalls = capture.shortfalls {
      words.append("shortfall=" + shortfalls.map { word($0.stream) }.joined(separator: ","))
    }
    if let cause = capture.why.cause { words.append("cause=\(cause.rawValue)") }
    if let twin = OutputName.twin(of: capture.id) { words.append("twin-of=\(twin)") }
    let names = capture.notMade.map { word($0.stage) }
    if !names.isEmpty { words.append("not-made=" + names.joined(separator: ",")) }
    if let note = note(capture) { words.append("note=" + quoted(note)) }
    return words.joined(separator: " ")
  }

  /// Why something that was requested by name, or everything, was not made; the last field of the
  /// line. Always there with `0/0`.
  private static func note(_ capture: CaptureReport) -> String? {
    var stages = capture.notMade
    if stages.isEmpty, capture.stagesApplicable == 0 {
      guard capture.hasSucceeded else { return brief(capture) }
      stages = capture.stages
      if stages.isEmpty { return "nothing that was asked for applies" }
    }
    return stages.isEmpty
      ? nil
      : stages.map { "\($0.stage): \($0.why.message ?? "not possible")" }.joined(separator: "; ")
  }

  /// The first line of the reason why no stage of a capture started.
  private static func brief(_ capture: CaptureReport) -> String {
    let line = capture.why.message?.split(whereSeparator: \.isNewline).first.map(String.init)
    return line ?? "no stage was started"
  }

  /// A text as a logfmt value: in double quotes, with quotes and backslashes escaped.
  private static func quoted(_ text: String) -> String {
    let text = text.onOneLine.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(text)\""
  }

  /// A name as part of a field: blanks, commas and control characters as `%XX`.
  private static func word(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      if scalar.value <= 0x20 || scalar.value == 0x7f || scalar == "," || scalar == "%" {
        let hex = String(scalar.value, radix: 16, uppercase: true)
        text += "%" + (hex.count < 2 ? "0" : "") + hex
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Whether there is anything to report even if the user wants little output.
  public static func hasFailures(_ report: RunReport) -> Bool {
    report.captures.contains { $0.outcome.hasFailed }
  }

  /// The final text for people: failures grouped by cause; what was found and not processed; one
  /// line of totals in captures.
  ///
  /// - Parameters:
  ///   - output: the folder with logs; `nil` if none are to be named.
  ///   - areNamed: whether every capture was named in full before, so that short ids suffice.
  ///   - saysWhere: whether it says where more is to be read; who sums up several runs says it once.
  public static func closing(
    _ report: RunReport, output: FilePath?, areNamed: Bool, saysWhere: Bool = true
  ) -> String {
    let short = ShortIDs(areNamed ? report.captures.map(\.id) : [])
    var parts = FailureGroup.groups(report).map { group in
      group.text(name: { short[$0] }) { capture, stage in
        guard let output else { return nil }
        let log = OutputLayout.log(of: stage, capture: capture, run: report.run, in: output)
        return FileSystem.exists(log) ? log.string : nil
      }
    }
    parts += needy(report, short)
    parts += notMade(report, short) + notProcessed(report, short)
    parts += RemovedResult.lines(report.captures.compactMap(\.removedResults)).map {
      "removed: \($0)"
    }
    if saysWhere, let output, let line = whereToRead(report, output) { parts.append(line) }
    if report.captures.contains(where: { $0.outcome == .interrupted }) {
      parts.append("interrupted: what is complete is kept; the same command does the rest")
    }
    parts.append(totals(report))
    return parts.joined(separator: "\n")
  }

  private static func hasWarned(_ report: RunReport) -> Bool {
    report.captures.contains { !$0.warningCount.isNone }
  }

  /// Whether there is more to read about what failed and warned.
  public static func hasMore(_ report: RunReport) -> Bool {
    hasFailures(report) || hasWarned(report)
  }

  private static func whereToRead(_ report: RunReport, _ output: FilePath) -> String? {
    guard hasMore(report) else { return nil }
    let words =
      hasWarned(report) ? ["warnings in \(output.shown)/<capture>/\(OutputNames.document)"] : []
    let logs =
      hasFailures(report) ? ["logs in \(output.shown)/\(OutputNames.runs)/\(report.run)/logs"] : []
    return "read more: " + (words + logs).joined(separator: ", ")
      + "; as a page: scanmill report \(ShellText.quoted(output.shown))"
  }

  /// Captures of this run that need a person although nothing failed, with the reasons.
  private static func needy(_ report: RunReport, _ short: ShortIDs) -> [String] {
    // Of what was interrupted the last line tells.
    let captures = report.captures.filter {
      !$0.outcome.hasFailed && $0.outcome != .interrupted && !$0.reasons.isEmpty
    }
    guard !captures.isEmpty else { return [] }
    let lines = captures.prefix(20).flatMap { capture in
      capture.reasons.map { "  \(short[capture.id]): \($0.text.onOneLine)" }
    }
    let more = captures.count > 20 ? ["  and \(captures.count - 20) more"] : []
    let what = hasFailures(report) ? "more capture" : "capture"
    let who =
      "\(Plural.text(captures.count, what)) \(Plural.word(captures.count, "needs you", "need you")):"
    return [([who] + lines + more).joined(separator: "\n")]
  }

  /// What was requested by name and cannot be made.
  private static func notMade(_ report: RunReport, _ short: ShortIDs) -> [String] {
    OutcomeWords.notMade(
      report.captures.lazy.map { capture in
        (short[capture.id], capture.notMade.map { ($0.stage, $0.why.message) })
      })
  }

  /// What was found and not processed, each kind once.
  private static func notProcessed(_ report: RunReport, _ short: ShortIDs) -> [String] {
    var lines: [String] = []
    var reasons: [String] = []
    var skipped: [String: [CaptureReport]] = [:]
    for capture in report.captures where capture.outcome == .skipped {
      // Workers of one run hold a capture each: without their numbers they are one reason.
      let why = (capture.why.message ?? "skipped").replacing(/\ \(process \d+[^)]*\)$/, with: "")
      if skipped[why] == nil { reasons.append(why) }
      skipped[why, default: []].append(capture)
    }
    for reason in reasons {
      let captures = skipped[reason] ?? []
      let why = captures.count == 1 ? captures[0].why.message ?? reason : reason
      lines.append(
        "not processed, \(why): " + OutcomeWords.some(captures.map { short[$0.id] }, most: 20))
    }
    return lines + [text(of: report.unrecognized)].compactMap(\.self)
  }

  /// Folders that are not captures, with their content; `nil` without any.
  public static func text(of unrecognized: [RunReport.Unrecognized]) -> String? {
    guard !unrecognized.isEmpty else { return nil }
    let folders = unrecognized.map { folder in
      folder.holds.isEmpty
        ? folder.path : "\(folder.path) (holds \(OutcomeWords.some(folder.holds, most: 3)))"
    }
    return "not recognized: " + OutcomeWords.some(folders, most: 20)
  }

  /// `12 captures: 10 done, 1 failed, 1 not possible (no poses) · 2 need you · 4 min 10 s · 1,204 frames`.
  private static func totals(_ report: RunReport) -> String {
    let captures = report.captures
    var parts: [String] = []
    func add(_ count: Int, _ words: String) {
      if count > 0 { parts.append("\(NumberText.grouped(count)) \(words)") }
    }
    let done = captures.count { $0.outcome.isDone }
    add(done, "done")
    for outcome in [RunOutcome.notPossible, .failed, .blocked, .interrupted, .skipped] {
      let own = captures.filter { $0.outcome == outcome }
      add(own.count, outcome.words + (outcome == .notPossible ? why(own) : ""))
    }
    if parts.isEmpty { parts = ["nothing found"] }
    let count = "\(NumberText.grouped(captures.count)) \(Plural.word(captures.count, "capture"))"
    var line = ["\(count): " + parts.joined(separator: ", ")]
    let needy = captures.count { !$0.reasons.isEmpty }
    if needy > 0 {
      line.append("\(NumberText.grouped(needy)) \(Plural.word(needy, "needs you", "need you"))")
    }
    // A step inside of a stage may have run, of which no stage tells.
    let hasNothingRun = !captures.contains { capture in
      capture.outcome == .made || capture.stages.contains { $0.outcome == .made }
    }
    if hasNothingRun, captures.allSatisfy(\.hasSucceeded) {
      line.append(
        done == captures.count && captures.allSatisfy { isWhole($0) }
          ? "nothing to do, everything is up to date" : "nothing to do")
    }
    line.append(DurationText.measured(report.totals.seconds))
    let frames = report.totals.frames
    if frames > 0 {
      line.append("\(NumberText.grouped(frames)) \(Plural.word(frames, "frame"))")
    }
    return line.joined(separator: " · ")
  }

  /// Whether nothing is lacking of what was asked for: neither what was named, nor what a setting has left no frame for.
  private static func isWhole(_ capture: CaptureReport) -> Bool {
    capture.notMade.isEmpty && !capture.warnings.contains { $0.code == .nothingLeft }
  }

  /// ` (no poses)`: why nothing that was named can be made; empty where the captures have several reasons.
  private static func why(_ captures: [CaptureReport]) -> String {
    let reasons = Set(captures.flatMap(\.notMade).compactMap(\.why.message))
    // `no poses: the family records no poses`.
    let words = Set(reasons.map { $0.split(separator: ":").first.map(String.init) ?? $0 })
    return words.count == 1 ? " (\(words.first?.onOneLine ?? ""))" : ""
  }
}

/// Failures of several captures with the same cause.
struct FailureGroup {
  /// Failure of the first capture.
  var failure: Failure
  /// Further stages of the first capture that failed with the same message: one file that two stages read.
  var others: [String] = []
  /// Stages of the first capture that were blocked by it.
  var blocked: [String]
  /// Whether nothing failed: the stages read what the run was not asked to make.
  var isBlocked = false
  /// Ids in the order of the report.
  var captures: [String]

  /// The groups in the order of first occurrence. Interrupted captures are not failures.
  static func groups(_ report: RunReport) -> [FailureGroup] {
    var groups: [FailureGroup] = []
    var known: [Failure: Int] = [:]
    for capture in report.captures where [.failed, .blocked].contains(capture.outcome) {
      for group in failures(of: capture) {
        var key = group.failure
        key.message = key.message.map { general($0, capture) }
        key.detail?.file = nil
        key.detail?.remedy = nil
        if key.detail?.code == .diskFull {
          // One full disk, whatever was being written to it.
          (key.message, key.stage, key.detail) = (nil, nil, FailureDetail(.diskFull))
        }
        if let index = known[key] {
          if groups[index].captures.last != capture.id { groups[index].captures.append(capture.id) }
        } else {
          known[key] = groups.count
          groups.append(group)
        }
      }
    }
    return groups
  }

  /// The failures of a capture, without stages that are only blocked by a failed one.
  private static func failures(of capture: CaptureReport) -> [FailureGroup] {
    let failed = capture.stages.filter { $0.outcome == .failed }
    let blocked = capture.stages.filter { $0.outcome == .blocked }
    func group(_ stage: StageReport?, _ blocked: [String]) -> FailureGroup {
      var failure = stage?.why ?? capture.why
      (failure.stage, failure.message) = (stage?.stage, failure.text)
      failure.cause = failure.cause ?? capture.why.cause
      return FailureGroup(failure: failure, blocked: blocked, captures: [capture.id])
    }
    if !failed.isEmpty {
      let behind = Dictionary(grouping: blocked) { root(of: $0, blocked, failed) }
      return failed.reduce(into: []) { groups, stage in
        let blocked = (behind[stage.stage] ?? []).map(\.stage)
        let next = group(stage, blocked)
        if let same = groups.firstIndex(where: {
          $0.failure.message == next.failure.message && $0.failure.cause == next.failure.cause
        }) {
          groups[same].others.append(stage.stage)
          groups[same].blocked += blocked
        } else {
          groups.append(next)
        }
      }
    }
    if capture.why.message != nil { return [group(nil, blocked.map(\.stage))] }
    var alone = group(blocked.first, [])
    alone.others = blocked.dropFirst().map(\.stage)
    alone.isBlocked = !blocked.isEmpty
    return [alone]
  }

  /// The failed stage that blocked another one, by the message about its input; without one, the
  /// first failed stage.
  private static func root(
    of stage: StageReport, _ blocked: [StageReport], _ failed: [StageReport]
  ) -> String {
    var (current, seen) = (stage, Set<String>())
    while seen.insert(current.stage).inserted {
      let message = current.why.message ?? ""
      if let root = failed.first(where: { message.contains("'\($0.stage)'") }) { return root.stage }
      guard
        let next = blocked.first(where: {
          $0.stage != current.stage && message.contains("'\($0.stage)'")
        })
      else { break }
      current = next
    }
    return failed.first?.stage ?? ""
  }

  /// The message without parts specific to this capture (its names, and log lines after the first
  /// line), so that equal causes give equal texts.
  private static func general(_ message: String, _ capture: CaptureReport) -> String {
    var text = message.split(separator: "\n").first.map(String.init) ?? ""
    if !capture.path.isEmpty { text = text.replacing(capture.path, with: "*") }
    // As a whole word, since a short id may be part of other words.
    if !capture.id.isEmpty {
      text =
        text.split(separator: capture.id, omittingEmptySubsequences: false)
        .reduce(into: (text: "", isFirst: true)) { joined, piece in
          let isWord =
            !(joined.text.last?.isLetterOrNumber ?? false)
            && !(piece.first?.isLetterOrNumber ?? false)
          if !joined.isFirst { joined.text += isWord ? "*" : capture.id }
          joined.text += piece
          joined.isFirst = false
        }.text
    }
    return text
  }

  /// - Parameters:
  ///   - name: the displayed name of a capture.
  ///   - log: the log of a capture's stage, if there is one.
  func text(name: (String) -> String, log: (_ capture: String, _ stage: String) -> String?)
    -> String
  {
    let stage = failure.stage
    var lines = [
      "\(failure.cause?.rawValue ?? (isBlocked ? "blocked" : "failed")): \(failure.text)"
    ]
    if captures.count > 1 {
      lines[0] += " (the first of \(captures.count) captures with this failure)"
    }
    var place: [String] = []
    if let stage {
      place.append(
        (others.isEmpty ? "stage " : "stages ") + ([stage] + others).joined(separator: ", "))
    }
    if !blocked.isEmpty { place.append("blocked by it: \(blocked.joined(separator: ", "))") }
    if !place.isEmpty { lines.append("  " + place.joined(separator: "; ")) }
    if isBlocked, let stage { lines.append("  " + Remedy.ofBlocked([stage] + others)) }
    if let stage, let first = captures.first, let path = log(first, stage) {
      lines.append("  log \(path)")
    }
    let most = 50
    var names = captures.prefix(most).map(name).joined(separator: ", ")
    if captures.count > most { names += ", and \(captures.count - most) more" }
    lines.append("  \(Plural.word(captures.count, "capture")) \(names)")
    return lines.joined(separator: "\n")
  }
}

extension Character {
  fileprivate var isLetterOrNumber: Bool { isLetter || isNumber }
}

/// Shortened ids for texts in which they were named in full before: the shortest unique prefix of
/// at least 12 characters, with `…` if cut. Never used in JSON, CSV and the lines of standard
/// output.
struct ShortIDs {
  static let leastCharacters = 12
  private var texts: [String: String] = [:]

  /// Cost: proportional to the number of ids and the length of their common prefixes.
  init(_ ids: some Sequence<String>) {
    let all = Set(ids)
    var open = Array(all)
    var length = Self.leastCharacters
    while !open.isEmpty {
      var rest: [String] = []
      for (prefix, alike) in Dictionary(grouping: open, by: { $0.prefix(length) }) {
        for id in alike {
          // Cutting must save something.
          if id.count <= length + 1 {
            texts[id] = id
          } else if alike.count == 1, !all.contains(String(prefix)) {
            texts[id] = prefix + "…"
          } else {
            rest.append(id)
          }
        }
      }
      open = rest
      length += 1
    }
  }

  /// The short form; unknown ids are unchanged.
  subscript(id: String) -> String { texts[id] ?? id }
}
