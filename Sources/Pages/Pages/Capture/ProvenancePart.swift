import Captures
import Core
import Engine
import Synchronization
import SystemPackage

extension CapturePieces {
  private var description: CaptureDescription? { material.description }

  /// The part about the origin: device, app, program, and digests of all inputs and outputs.
  func provenancePart() -> Markup? {
    let facts = facts()
    let stages = material.published.stages.filter { $0.record != nil }
    guard !facts.isEmpty || !stages.isEmpty else { return nil }
    return Tag.section(.id("provenance")) {
      Tag.h2 { "Provenance" }
      PageTable.facts("Where it comes from", ["What", "Value"], facts)
      if !stages.isEmpty {
        Tag.details {
          Tag.summary { "Fingerprints and digests" }
          PageTable.facts(
            "Digests are SHA-256. Equal fingerprints mean equal input, settings and stage.",
            ["Stage", "Kind and version", "Fingerprint", "Output", "Program"],
            stages.compactMap { stage in stage.record.map { digests(stage.name, $0) } })
          inputs(stages)
        }
      }
    }
  }

  private func facts() -> [[String]] {
    var facts: [[String]] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { facts.append([name, value]) }
    }
    let capture = material.capture
    if let redaction = phrasing.redaction {
      add("Capture", redaction.alias(of: material.layout.name))
    } else {
      add("Capture", phrasing.text(description?.id ?? capture.id))
      if material.layout.name != description?.id {
        add("Folder", phrasing.text(material.layout.name))
      }
      add("Read from", (capture.path ?? description?.path).map { phrasing.text($0, most: 2000) })
      add(
        "Device",
        [description?.deviceName, description?.deviceID].compactMap(\.self)
          .map { phrasing.text($0) }.joined(separator: " · "))
      add(
        "Scene",
        [description?.sceneLabel, description?.sceneText].compactMap(\.self)
          .map { phrasing.text($0) }.joined(separator: " · "))
      add("Recorded by", capture.user.map { phrasing.text($0) })
    }
    add("Model", description?.deviceModel.map { phrasing.text($0) })
    add(
      "Kind of scene", phrasing.isRedacted ? nil : description?.sceneType.map { phrasing.text($0) })
    add("App family", (capture.family ?? description?.family).map { phrasing.text($0) })
    add("Generation of its files", description?.generation.map { phrasing.text($0) })
    add(
      "Recorded",
      (capture.recordedAt ?? description?.recordedAt).map { phrasing.text(LocalTime.dated($0)) })
    add("Clock", description?.clockBase.map { phrasing.text($0) })
    let program = program
    add("Program", program.map { "scanmill \($0.version)" })
    add("Built from commit", program?.commit.map { PagePhrasing.cut($0, most: 60) })
    add(
      "Libraries",
      program?.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        .joined(separator: ", "))
    add("Pipeline", material.published.run?.pipeline.map { phrasing.text($0) })
    add("Last run that worked on it", material.published.run.map { phrasing.text($0.id) })
    add(
      "On the cluster", phrasing.isRedacted ? nil : capture.cluster.map { phrasing.text($0.words) })
    return facts
  }

  /// The build that made the newest artifact, else that of the last run.
  private var program: ProgramIdentity? {
    material.published.stages.compactMap(\.record).max { $0.finished < $1.finished }?.program
      ?? material.published.run?.program
  }

  private func digests(_ name: String, _ record: ArtifactRecord) -> [String] {
    [
      phrasing.text(name, most: 100), "\(phrasing.text(record.uses, most: 60)) \(record.version)",
      record.fingerprint.hex, record.outputDigest.hex,
      record.program.map { $0.version + ($0.commit.map { " (\($0.prefix(8)))" } ?? "") } ?? "–",
    ]
  }

  @MarkupBuilder private func inputs(_ stages: [PublishedStages.Stage]) -> Markup {
    let rows = stages.flatMap { stage in
      (stage.record?.inputs.capture?.files ?? [:]).sorted { $0.key < $1.key }
        .filter { !$0.value.isEmpty }
        .map { part, files in
          [
            phrasing.text(stage.name, most: 100), phrasing.text(part, most: 60),
            files.prefix(4).map(\.hex).joined(separator: " ")
              + (files.count > 4 ? " and \(files.count - 4) more" : ""),
          ]
        }
    }.prefix(120)
    if !rows.isEmpty {
      PageTable.facts(
        "Files of the capture that were read", ["Stage", "Part", "Digests"], Array(rows))
    }
  }
}

extension CapturePieces {
  /// The part about how to make the output again.
  func rerunPart() -> Markup {
    let isRedacted = phrasing.isRedacted
    let path = material.capture.path ?? material.description?.path
    let input = isRedacted ? "CAPTURE" : path.map(Self.quoted) ?? "CAPTURE"
    let output = isRedacted ? "DIR" : Self.quoted(material.layout.root.shown)
    let id =
      isRedacted
      ? "CAPTURE" : Self.quoted(material.layout.folder.shown)
    return Tag.section(.id("rerun")) {
      Tag.h2 { "Run it again" }
      Tag.p { "What is not up to date:" }
      Tag.pre(.classes("command")) {
        Markup.command(PagePhrasing.cut("scanmill run \(input) --output \(output)", most: 5000))
      }
      Tag.p { "Everything, including what is up to date:" }
      Tag.pre(.classes("command")) {
        Markup.command(
          PagePhrasing.cut("scanmill run \(input) --output \(output) --forceall", most: 5000))
      }
      Tag.p { "How each stage stands, and why:" }
      Tag.pre(.classes("command")) {
        Markup.command(PagePhrasing.cut("scanmill status \(id)", most: 5000))
      }
    }
  }

  /// Quotes a text as one argument for a shell.
  private static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      byte.isLetterOrDigit || "/._-+@%~:,=".utf8.contains(byte)
    }
    // A leading dash would be taken for an option.
    if plain, !text.isEmpty, !text.hasPrefix("-"), !text.hasPrefix("~") { return text }
    let safe = text.hasPrefix("-") ? "./" + text : text
    return "'" + safe.replacing("'", with: "'\\''") + "'"
  }
}

/// Prepares texts that come from names, metadata and messages for a page: redacts private parts if
/// requested, and limits the length. Every such text of a capture page passes through this type.
struct PagePhrasing {
  let redaction: Redaction?
  /// Private texts, longest first.
  private let secrets: [String]

  /// - Parameter secrets: texts that are private wherever they occur, in addition to those known to
  ///   `redaction`.
  init(_ redaction: Redaction?, secrets: [String]) {
    self.redaction = redaction
    let all = secrets.flatMap { [$0, $0.shown, $0.onOneLine, PathText.shown($0)] }
    self.secrets = Set(all).filter { $0.count >= 3 }.sorted {
      ($0.utf8.count, $0) > ($1.utf8.count, $1)
    }
  }

  var isRedacted: Bool { redaction != nil }

  /// Problems of files, a paragraph for each.
  @MarkupBuilder func notices(_ problems: [String]) -> Markup {
    for problem in problems { Tag.p(.classes("notice")) { text(problem) } }
  }

  /// At most `most` bytes of the text, with an ellipsis if cut.
  func text(_ text: String, most: Int = 1000) -> String {
    guard let redaction else { return Self.cut(text, most: most) }
    // Redacted before cutting: a secret that is cut in two would not be recognized.
    var shown = redaction.text(Self.cut(text, most: 1 << 16))
    for secret in secrets { shown = shown.replacing(secret, with: "[left out]") }
    return Self.cut(shown, most: most)
  }

  /// A name inside a sentence, with any writing direction.
  func name(_ text: String) -> Markup { .name(self.text(text, most: 300)) }

  static func cut(_ text: String, most: Int) -> String {
    guard text.utf8.count > most else { return text }
    var cut = ""
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > most { break }
      cut.unicodeScalars.append(scalar)
    }
    return cut + "…"
  }
}

/// Everything from which a capture page is made, collected from the output.
struct CaptureMaterial {
  var capture: CaptureRow
  var familyDescription: FamilyDescription
  var layout: OutputLayout
  var phrasing: PagePhrasing
  var description: CaptureDescription?
  var published: PublishedStages
  var frames: FrameTimes?

  init(
    _ capture: CaptureRow, _ layout: OutputLayout, _ redaction: Redaction?,
    _ families: CaptureRegistry
  ) {
    self.capture = capture
    self.layout = layout
    let description = CaptureDescription(layout)
    self.description = description
    familyDescription = families.description(named: capture.family ?? description?.family)
    var secrets = description?.secrets ?? []
    secrets += [
      capture.path, capture.scene, capture.device, capture.user, layout.name, layout.root.text,
    ].compactMap(\.self)
    // A redacted report already has aliases.
    if let redaction {
      let aliases = [
        redaction.alias(of: layout.name), capture.device.map { redaction.alias(ofDevice: $0) },
        capture.user.map { redaction.alias(ofUser: $0) },
      ].compactMap(\.self)
      secrets.removeAll { aliases.contains($0) || $0 == capture.device || $0 == capture.user }
      secrets += [description?.deviceName, description?.deviceID].compactMap(\.self)
    }
    phrasing = PagePhrasing(redaction, secrets: secrets)
    published = PublishedStages(layout, ids: [layout.name, capture.id, description?.id ?? ""])
    frames = FrameTimes(
      PublishedTable("frames.csv", of: published.tables, layout), family: familyDescription)
  }

  func table(_ file: String, of stage: PublishedStages.Stage?) -> PublishedTable? {
    PublishedTable(file, of: stage, layout)
  }

  /// Warnings of the report, and those of `capture.json` and of artifacts that are not in the
  /// report; notes come last.
  var warnings: [CaptureWarning] {
    capture.warnings.merged(with: description?.warnings ?? [])
      .merged(with: published.stages.flatMap { $0.record?.warnings ?? [] })
  }
}

/// Entries about a capture in the journal of the last run that processed it.
struct RunExcerpt {
  var id: String
  var program: ProgramIdentity?
  var pipeline: String?
  var stages: [StageReport] = []

  /// The newest run with logs of the capture; a run that found everything up to date has none.
  /// Cost: one listing of the runs, a system call per run, and `run.json` once for all captures of
  /// a run.
  static func last(of layout: OutputLayout, ids: [String]) -> RunExcerpt? {
    guard let runs = HeldFolder(layout.root)?.below(OutputNames.runs) else { return nil }
    let names = ((try? runs.list()) ?? []).filter { $0.kind == .folder }.map(\.name).sorted(by: >)
    for name in names.prefix(mostRuns) {
      guard runs.below(name)?.below(OutputNames.logs)?.below(layout.name) != nil else { continue }
      var excerpt = RunExcerpt(id: name)
      if let known = known(name, layout), let file = known.file {
        excerpt.program = file.program
        excerpt.pipeline = file.pipeline?.name
        let place = ids.lazy.compactMap { known.places[$0] }.first
        excerpt.stages = place.flatMap { file.captures?[$0].stages } ?? []
      }
      return excerpt
    }
    return nil
  }

  private static let mostRuns = 2000

  private struct Known {
    var path: FilePath
    var stamp: FileStamp
    var file: RunFile?
    /// The place of each capture in the file, by id.
    var places: [String: Int]
  }

  /// A cache of the last journal: the capture pages of a night mostly come from few runs.
  private static let cached = Mutex<Known?>(nil)

  private static func known(_ run: String, _ layout: OutputLayout) -> Known? {
    let path = OutputLayout.run(run, in: layout.root).appending(OutputNames.run)
    guard
      let stamp = HeldFolder(layout.root)?.below(OutputNames.runs)?.below(run)?
        .stamp(of: OutputNames.run)
    else { return nil }
    return cached.withLock { cached in
      if let cached, cached.path == path, cached.stamp == stamp { return cached }
      let file = RunFile(run, in: layout.root)
      let places = (file?.captures ?? []).enumerated().map { ($1.id, $0) }
      let found = Known(
        path: path, stamp: stamp, file: file,
        places: Dictionary(places, uniquingKeysWith: { $1 }))
      cached = found
      return found
    }
  }
}
