import Captures
import Core
import Engine

extension NightPage {
  /// Limit on cards, so that the page stays bounded if every capture fails differently.
  private static let mostCards = 40
  private static let mostInFull = 8
  private static let mostNamed = 200
  private static let mostOfMessage = 600

  /// The section about what needs attention, which precedes all lists of captures. Empty if nothing does.
  var attentionSection: Markup {
    guard needsPerson else { return .nothing }
    let groups = AttentionGroup.groups(report.captures)
    return Tag.section(.id("attention"), Attribute("aria-labelledby", "attention-title")) {
      Tag.h2(.id("attention-title")) { "Needs you" }
      people
      for problem in problems where problem.isUrgent { card(problem) }
      for group in groups.prefix(Self.mostCards) { card(group) }
      if groups.count > Self.mostCards { rest(groups.dropFirst(Self.mostCards)) }
      unrecognized
    }
  }

  private var now: LocalTime? { LocalTime(report.made) }

  // MARK: Whom to ask

  /// `Recorded by: Anna (2; ipad-01, ipad-07), Ben (ipad-03), ipad-04`: people with their devices,
  /// and devices without a person's name.
  private var people: Markup? {
    var found: [(name: String, devices: [String], count: Int)] = []
    var known: [String: Int] = [:]
    for capture in report.captures where capture.needsPerson {
      let texts = [capture.user, capture.device].compactMap(\.self).filter { !$0.isEmpty }
      guard let name = texts.first else { continue }
      let index = known[name] ?? found.count
      if index == found.count {
        known[name] = index
        found.append((name, [], 0))
      }
      found[index].count += 1
      if texts.count > 1, !found[index].devices.contains(texts[1]) {
        found[index].devices.append(texts[1])
      }
    }
    guard !found.isEmpty else { return nil }
    return Tag.p(.classes("people")) {
      Tag.strong { "Recorded by: " }
      for (index, person) in found.prefix(8).enumerated() {
        if index > 0 { ", " }
        Markup.name(FigureText.cut(person.name, 60))
        details(person.count, person.devices)
      }
      if found.count > 8 { ", and \(found.count - 8) more" }
    }
  }

  private func details(_ count: Int, _ devices: [String]) -> Markup? {
    if count == 1, devices.isEmpty { return nil }
    var text = Markup(text: count > 1 ? " (\(count)" : " (")
    for (index, device) in devices.prefix(3).enumerated() {
      if index > 0 || count > 1 { text.append(Markup(text: index > 0 ? ", " : "; ")) }
      text.append(.name(FigureText.cut(device, 40)))
    }
    if devices.count > 3 { text.append(Markup(text: ", …")) }
    return text + Markup(text: ")")
  }

  // MARK: Cards

  private func card(_ problem: NightProblem) -> Markup {
    Tag.article(.classes("card"), Attribute("data-state", "trouble")) {
      Tag.h3 { Tag.span(.classes("state")) { problem.title } }
      Tag.p { problem.words }
      advice(problem.remedy)
    }
  }

  private func card(_ group: AttentionGroup) -> Markup {
    Tag.article(.classes("card"), Attribute("data-state", group.tone)) {
      Tag.h3 {
        Tag.span(.classes("state")) { group.title }
        if group.captures.count > 1 { " · \(FigureText.counted(group.captures.count, "capture"))" }
      }
      list(group.captures, inFull: Self.mostInFull) { lines($0, group) }
      advice(group.remedy)
      if !group.meaning.isEmpty { Tag.p { Markup.prose(group.meaning) } }
      command(group)
      log(group)
    }
  }

  private func advice(_ text: String) -> Markup? {
    text.isEmpty
      ? nil
      : Tag.p {
        Tag.strong { "What to do: " }
        Markup.prose(text)
      }
  }

  /// Captures: the first ones with picture, origin and lines, the others by name, folded.
  ///
  /// - Parameter lines: what is said of one of the first ones.
  func list(
    _ captures: [CaptureRow], inFull most: Int, _ attributes: Attribute...,
    lines: (CaptureRow) -> [Markup]
  ) -> Markup {
    let list = Tag.ul(.classes("captures")) {
      for capture in captures.prefix(most) {
        Tag.li(attributes) {
          if let picture = supplies.thumbnail(capture) {
            picture.element(named: "First picture of \(names.short(capture.id))")
          }
          Tag.div {
            Tag.p {
              Markup.dotted(
                [names.link(capture)]
                  + [capture.scene, capture.device, capture.user].compactMap(\.self)
                  .filter { !$0.isEmpty }.map { Markup.name(FigureText.cut($0, 80)) })
            }
            for line in lines(capture) { Tag.p(.classes("small")) { line } }
          }
        }
      }
    }
    let others = captures.dropFirst(most)
    guard !others.isEmpty else { return list }
    return list
      + Tag.details {
        Tag.summary { FigureText.counted(others.count, "more capture") }
        Tag.ul {
          for capture in others.prefix(Self.mostNamed) { Tag.li { names.link(capture) } }
        }
        if others.count > Self.mostNamed { Tag.p { "All are in the table below." } }
      }
  }

  /// The lines that are specific to a capture.
  private func lines(_ capture: CaptureRow, _ group: AttentionGroup) -> [Markup] {
    var lines: [Markup] = []
    if let twin = capture.twinOf {
      let place = capture.path.map {
        Markup(text: "; this one is ") + .path(FigureText.cut($0, 4_096))
      }
      lines.append(
        Markup(text: "Same id as \(FigureText.cut(twin, 200))") + (place ?? .nothing))
    }
    let failures = Self.byMessage(capture.failures)
    for failure in failures.prefix(3) {
      let word = failure.stages.count > 1 ? "Stages" : "Stage"
      let stages =
        failure.stages.isEmpty ? "" : "\(word) \(StageWords.list(failure.stages)): "
      lines.append(
        Markup(text: stages)
          + Tag.bdi {
            FigureText.cut(Self.brief(failure.message, capture), Self.mostOfMessage)
          })
    }
    if failures.count > 3 {
      lines.append(Markup(text: "and \(FigureText.counted(failures.count - 3, "more failure"))"))
    }
    for reason in capture.reasons.filter({ [.shortfall, .stale, .interrupted].contains($0.code) })
      .prefix(8)
    {
      lines.append(.name(FigureText.cut(reason.text, 400)))
    }
    if !capture.missing.isEmpty {
      let files = StageWords.list(capture.missing.prefix(8).map { FigureText.cut($0, 80) })
      let more = capture.missing.count > 8 ? " and \(capture.missing.count - 8) more" : ""
      let word =
        capture.isOneFile
        ? "Missing in it: " : capture.state == .incomplete ? "Waits for: " : "Missing: "
      let folder =
        capture.isOneFile
        ? nil : capture.path.map { Markup(text: ", to be copied to ") + .path($0) }
      lines.append(
        Markup(text: word) + .name(files) + Markup(text: more) + (folder ?? Markup(text: "")))
    }
    if let upload = capture.upload {
      lines.append(.name(FigureText.cut(upload.words(size: ByteCount.text), 300)))
    }
    var facts: [String] = []
    if let since = capture.since { facts.append("since \(LocalTime.text(since, near: now))") }
    if capture.attempts > 0 { facts.append(FigureText.counted(capture.attempts, "attempt")) }
    if capture.gone { facts.append("its folder is gone") }
    if let retry = capture.retryAt, capture.state == .failed {
      facts.append("tried again at \(LocalTime.text(retry, near: now))")
    }
    if capture.state == .quarantined { facts.append("not tried again automatically") }
    if !facts.isEmpty { lines.append(Markup(text: facts.joined(separator: ", "))) }
    return lines
  }

  /// Failures with one message once, with the stages that have it, in the order of the first.
  private static func byMessage(
    _ failures: [Failure]
  ) -> [(message: String, stages: [String])] {
    failures.reduce(into: []) { groups, failure in
      let stages = failure.stage.map { [$0] } ?? []
      if let index = groups.firstIndex(where: { $0.message == failure.text }) {
        groups[index].stages += stages
      } else {
        groups.append((failure.text, stages))
      }
    }
  }

  /// The message with file names relative to the capture's folder.
  private static func brief(_ message: String, _ capture: CaptureRow) -> String {
    [capture.path, capture.path.map(PathText.shown)].compactMap(\.self).filter { $0.count > 1 }
      .reduce(message) { $0.replacing("\($1)/", with: "") }
  }

  private func command(_ group: AttentionGroup) -> Markup? {
    let commands = group.captures.compactMap(\.command).prefix(Self.mostInFull)
    if commands.isEmpty { return nil }
    return Tag.div {
      Tag.p { "To try again:" }
      for command in commands {
        Tag.pre(.classes("command")) { Markup.command(FigureText.cut(command, 4_096)) }
      }
    }
  }

  private func log(_ group: AttentionGroup) -> Markup? {
    for capture in group.captures.prefix(Self.mostInFull) {
      guard let path = capture.failures.first(where: { $0.log != nil })?.log,
        let lines = supplies.log(path), !lines.isEmpty
      else { continue }
      return Tag.details {
        Tag.summary {
          "Last \(lines.count == 1 ? "line" : "\(lines.count) lines") of the log of \(names.short(capture.id))"
        }
        Tag.pre(.classes("log")) {
          lines.map { FigureText.cut($0, 300) }.joined(separator: "\n")
        }
      }
    }
    return nil
  }

  private func rest(_ groups: ArraySlice<AttentionGroup>) -> Markup {
    let captures = groups.reduce(0) { $0 + $1.captures.count }
    return Tag.article(.classes("card"), Attribute("data-state", "failed")) {
      Tag.h3 {
        Tag.span(.classes("state")) {
          "\(FigureText.counted(captures, "more capture", "more captures"))"
        }
      }
      Tag.p { "They need you for other reasons; the table below names them first." }
    }
  }

  // MARK: Folders without a capture

  private var unrecognized: Markup? {
    let folders = report.unrecognized
    if folders.isEmpty { return nil }
    return Tag.article(.classes("card"), Attribute("data-state", "unrecognized")) {
      Tag.h3 {
        Tag.span(.classes("state")) {
          folders.count == 1
            ? "1 folder is not recognized" : "\(folders.count) folders are not recognized"
        }
      }
      Tag.ul {
        for folder in folders.prefix(50) {
          Tag.li {
            Markup.name(FigureText.cut(folder.path, 4_096))
            if !folder.holds.isEmpty {
              " holds "
              Markup.name(
                FigureText.cut(folder.holds.prefix(8).joined(separator: ", "), 400))
              if folder.holds.count > 8 { " and \(folder.holds.count - 8) more" }
            }
          }
        }
      }
      if folders.count > 50 { Tag.p { "and \(folders.count - 50) more" } }
      advice(
        "Check whether part of an upload is missing or is somewhere else. The folder is not processed; it is looked at again when something in it changes. Move anything that is not a capture out of STAGING."
      )
    }
  }
}

extension Markup {
  static func dotted(_ parts: [Markup]) -> Markup {
    parts.enumerated().reduce(into: .nothing) { all, part in
      if part.offset > 0 { all.append(Markup(text: " · ")) }
      all.append(part.element)
    }
  }

  /// A sentence in which text between backticks is code.
  static func prose(_ text: String) -> Markup {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    // An unpaired backtick is not a quotation mark.
    guard parts.count.isMultiple(of: 2) == false else { return Tag.bdi { text } }
    return Tag.bdi {
      for (index, part) in parts.enumerated() {
        if index.isMultiple(of: 2) {
          part
        } else {
          Tag.code { part }
        }
      }
    }
  }
}

/// Captures that need a person for which the same helps: one card on the page.
struct AttentionGroup {
  /// The first reason of the first capture.
  var reason: NeedReason
  /// Why the first capture has failed; `nil`: none has.
  var failure: Failure?
  var isGone: Bool
  /// In the order of the report.
  var captures: [CaptureRow]

  private struct Key: Hashable {
    var code: NeedReason.Code
    var cause: FailureCause?
    var detail: FailureDetail.Code?
    var isGone: Bool
    /// Without what differs between captures.
    var remedy: String
  }

  /// The groups in the order of first occurrence: each capture by its first reason. Cost: one pass.
  static func groups(_ captures: [CaptureRow]) -> [AttentionGroup] {
    var groups: [AttentionGroup] = []
    var known: [Key: Int] = [:]
    for capture in captures {
      guard let reason = capture.reasons.first else { continue }
      let hasFailed = reason.code == .failed || reason.code == .quarantined
      let failure = hasFailed ? capture.failures.first : nil
      let isGone = hasFailed && capture.gone
      let key = Key(
        code: reason.code, cause: failure?.cause, detail: failure?.detail?.code, isGone: isGone,
        // Each place lacks files of its own; the line of a capture names them.
        remedy: reason.code == .shortfall ? "" : general(reason.remedy ?? "", capture))
      if let index = known[key] {
        groups[index].captures.append(capture)
      } else {
        known[key] = groups.count
        groups.append(
          AttentionGroup(reason: reason, failure: failure, isGone: isGone, captures: [capture]))
      }
    }
    return groups
  }

  /// The message without what differs between captures with the same failure: names, numbers
  /// (records, byte offsets), and lines after the first.
  static func general(_ message: String, _ capture: CaptureRow) -> String {
    var text = message.split(separator: "\n").first.map(String.init) ?? ""
    for name in [capture.path, capture.path.map(PathText.shown), capture.id] {
      guard let name, !name.isEmpty else { continue }
      text = text.replacing(name, with: "*")
    }
    var result = ""
    for character in text {
      if character.isNumber {
        if result.last != "#" { result.append("#") }
      } else {
        result.append(character)
      }
    }
    return result
  }

  /// The state in which the card is drawn.
  var tone: String {
    let state = captures.first?.state ?? .failed
    return state == .done || state.color == .waiting
      ? CaptureState.Color.warning.rawValue : state.rawValue
  }

  /// A few words: `files cannot be read`.
  var title: String {
    switch reason.code {
    case .incomplete, .missingFiles:
      let lacks = Set(captures.map { OutcomeWords.lacks($0.missing) })
      return lacks.count == 1 ? lacks.first ?? "" : "files are missing"
    case .shortfall:
      let streams = Set(captures.flatMap { $0.shortfalls.map(\.stream) })
      return streams.count == 1 ? losses : "parts are lost"
    case .stale: return "not up to date"
    case .interrupted: return "not done, and nothing is at work"
    case .stalledUpload: return "the upload does not go on"
    case .alteredFiles: return "files are not as on the device"
    case .failed, .quarantined:
      if isGone { return "the folder has disappeared" }
      switch (failure?.cause, failure?.detail?.code) {
      case (_, .unsuitable): return "a parameter does not fit"
      case (_, .unlikeTheApp): return "files are not as the app writes them"
      case (_, .strict): return "warnings count as failures"
      case (.input, _): return "files cannot be read"
      case (.permission, _): return "files may not be read"
      case (.machine, _): return "the machine had a problem"
      case (.program, _), (nil, _):
        let stages = Set(captures.map { $0.failures.first?.stage })
        guard stages.count == 1, let stage = stages.first.flatMap(\.self) else {
          return failure?.cause == nil ? "could not be processed" : "a stage failed"
        }
        return "stage \(stage) failed"
      }
    }
  }

  /// How much the captures have lost of one stream: `imu: 3 % lost`, `imu: 3 to 58 % lost`.
  private var losses: String {
    let all = captures.flatMap { $0.shortfalls }
    guard let least = all.min(by: { $0.lostPercent < $1.lostPercent })?.lossWords,
      let most = all.max(by: { $0.lostPercent < $1.lostPercent })
    else { return "parts are lost" }
    if least == most.lossWords { return least }
    return "\(least.prefix { $0 != "%" })to \(most.lossWords.dropFirst(most.stream.count + 2))"
  }

  /// The meaning, from the code reference.
  var meaning: String {
    switch reason.code {
    case .incomplete:
      "Nothing has changed for a while, and files that every capture of this kind has are missing."
    case .missingFiles:
      "Files that every capture of this kind has are missing. Results that need them do not exist."
    case .stalledUpload, .alteredFiles, .shortfall, .stale, .interrupted:
      CodeReference[reason.code.rawValue]?.meaning ?? ""
    case .failed, .quarantined:
      isGone
        ? "Its folder disappeared from STAGING before everything was done. What was published is kept."
        : failure?.code.flatMap { CodeReference[$0]?.meaning } ?? ""
    }
  }

  var remedy: String { reason.remedy ?? "" }
}
