import Core
import Captures
import Engine
import SystemPackage

extension CapturePieces {
  private var capture: CaptureRow { material.capture }

  /// The displayed name of the capture.
  private var title: String {
    if let redaction = phrasing.redaction { return redaction.alias(of: material.layout.name) }
    let scene = capture.scene ?? material.description?.sceneLabel
    return phrasing.text(scene ?? capture.id, most: 300)
  }

  /// Title of the browser tab.
  var pageTitle: String {
    let state = capture.state.words
    if phrasing.isRedacted { return "\(state) · \(title) · scanmill" }
    let short = ShortIDs([capture.id])[capture.id]
    return "\(state) · \(title == capture.id ? short : "\(title) · \(short)") · scanmill"
  }

  /// One sentence about the state.
  private var sentence: String {
    let frames = capture.frames ?? material.frames?.rows ?? material.description?.frames
    let length = material.frames.map(\.duration).flatMap { $0 > 0 ? $0 : nil }
    let size = [
      frames.map { FigureText.counted($0, "frame") }, length.map(FigureText.duration),
    ].compactMap(\.self).joined(separator: " in ")
    let subject = size.isEmpty ? "This capture" : "This capture (\(size))"
    let warnings = material.warnings.counted
    switch capture.state {
    case .done where capture.needsPerson: return "\(subject) was processed and needs you."
    case .done where warnings.isNone:
      return "\(subject) is ready: everything was processed and nothing was found wrong."
    case .done:
      return "\(subject) is ready, with \(warnings.sentence). Read them before you use it."
    case .queued:
      return "\(subject) waits" + (capture.waitsFor.map { " for: \($0)" } ?? " to be processed")
        + "."
    default: return "\(subject) \(capture.state.sentence)."
    }
  }

  /// The summary at the top: the capture's state, its reason, and what to do.
  func verdictPart() -> Markup {
    Tag.header(
      Attribute("class", "verdict card"), .id("verdict"),
      Attribute("data-state", capture.state.rawValue)
    ) {
      pictures.first
      Tag.h1 { Markup.name(title) }
      Tag.p(.classes("verdict-line")) {
        Tag.strong(.classes("state")) { Self.capitalized(capture.state.words) }
        " · "
        sentence
      }
      if !capture.missing.isEmpty {
        Tag.p {
          capture.isOneFile ? "Missing in it: " : "Missing files: "
          phrasing.text(capture.missing.prefix(40).joined(separator: ", "))
          if let path = capture.path, !capture.gone, !capture.isOneFile, !phrasing.isRedacted {
            ", to be copied to "
            Markup.path(phrasing.text(path, most: 300))
          }
          if capture.gone { ". Its place in the staging folder is gone." } else { "." }
        }
      } else if capture.gone {
        Tag.p { "Its place in the staging folder is gone." }
      }
      if capture.isPoor, let quality = capture.quality {
        Tag.p(.classes("notice")) {
          Tag.strong { CaptureQuality.Level.poor.words + ". " }
          phrasing.text(quality.reasons.map { $0 + "." }.joined(separator: " "))
        }
      }
      for failure in capture.failures.prefix(20) { self.failure(failure) }
      unreadable()
      if let mark = capture.mark {
        Tag.p(.classes("mark")) {
          Tag.strong { mark.isCurrent ? "Marked: " : "Was marked: " }
          phrasing.text(mark.told(LocalTime.dated), most: 2000)
        }
      }
      for reason in capture.reasons.filter({ [.shortfall, .stale, .interrupted].contains($0.code) })
        .prefix(20)
      {
        Tag.p(.classes("failure")) { phrasing.text(reason.text, most: 2000) }
      }
      for remedy in capture.remedies {
        Tag.p(.classes("remedy")) {
          Tag.strong { "What to do: " }
          Markup.prose(phrasing.text(remedy))
        }
      }
      if let retry = capture.retryAt, capture.mark?.isLeftAlone != true {
        Tag.p { "It will be tried again automatically at \(LocalTime.text(retry))." }
      }
      if let command = capture.command, !phrasing.isRedacted {
        Tag.p { "To try again now:" }
        Tag.pre(.classes("command")) {
          Markup.command(phrasing.text(command, most: 4000))
        }
      }
      facts()
    }
  }

  @MarkupBuilder private func failure(_ reported: Failure) -> Markup {
    Tag.p(.classes("failure")) {
      Tag.strong {
        reported.stage.map { "\(phrasing.text($0)) failed: " } ?? "It failed: "
      }
      phrasing.text(reported.text, most: 2000)
      if let attempts = reported.attempts, attempts > 1 { " (\(attempts) attempts)" }
    }
    if let code = reported.code, let entry = CodeReference[code] {
      Tag.p(.classes("small")) {
        Markup.prose("\(entry.meaning) \(entry.remedy)")
      }
    }
    if let log = reported.log, !phrasing.isRedacted,
      let tail = HeldFolder.lastLines(ofLog: log, below: material.layout.root), !tail.isEmpty
    {
      Tag.details {
        Tag.summary { "Last lines of the log" }
        Tag.pre(.classes("log")) { tail.joined(separator: "\n") }
      }
    }
  }

  /// Streams that cannot be read, unless a failure names them.
  @MarkupBuilder private func unreadable() -> Markup {
    for error in material.description?.errors ?? []
    where !capture.failures.contains(where: { $0.text.contains(error.message) }) {
      Tag.p(.classes("failure")) {
        Tag.strong { "\(phrasing.text(error.stream)) cannot be read: " }
        phrasing.text(error.message, most: 2000)
      }
    }
    if material.description == nil, capture.state == .done || capture.state == .failed {
      Tag.p(.classes("notice")) {
        "capture.json is missing or damaged, so what it describes is left out here. The next run that opens "
        "the capture writes it again."
      }
    }
  }

  private func facts() -> Markup {
    let description = material.description
    var facts: [(String, String)] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { facts.append((name, value)) }
    }
    if !phrasing.isRedacted {
      // The title is the scene where there is one, and many captures may be of one scene.
      if title != capture.id { add("Id", capture.id) }
      add("Same id as", capture.twinOf)
    }
    add(
      "Family",
      [capture.family ?? description?.family, description?.generation]
        .compactMap(\.self).joined(separator: " · "))
    if !phrasing.isRedacted {
      add("Scene", capture.scene ?? description?.sceneLabel)
      add("Device", capture.device ?? description?.deviceName ?? description?.deviceID)
      add("Recorded by", capture.user)
    }
    add("Recorded", (capture.recordedAt ?? description?.recordedAt).map(LocalTime.dated))
    facts += findings.map { ($0.name, $0.value) }
    add("Processed", capture.lastRun.map(LocalTime.dated))
    add("On the device", capture.custody?.words)
    let moment = [capture.lastRun, capture.recordedAt].compactMap { $0.flatMap { LocalTime($0) } }
    add("Times", moment.first?.zone)
    return Tag.dl(.classes("facts")) {
      for (name, value) in facts {
        Tag.div {
          Tag.dt { name }
          Tag.dd { phrasing.name(value) }
        }
      }
    }
  }

  private static func capitalized(_ words: String) -> String {
    words.prefix(1).uppercased() + words.dropFirst()
  }
}
