import Core
import Engine

/// The part about the origin: device, app, program, and digests of all inputs and outputs.
struct ProvenancePart {
  let material: CaptureMaterial

  private var phrasing: PagePhrasing { material.phrasing }
  private var description: CaptureDescription? { material.description }

  func markup() -> Markup? {
    let facts = facts()
    let stages = material.published.stages.filter { $0.record != nil }
    guard !facts.isEmpty || !stages.isEmpty else { return nil }
    return .element(.section, .id("provenance")) {
      Markup.element(.h2) { "Provenance" }
      DataTable.markup("Where it comes from", ["What", "Value"], facts)
      if !stages.isEmpty {
        Markup.element(.details) {
          Markup.element(.summary) { "Fingerprints and digests" }
          DataTable.markup(
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
      (capture.recordedAt ?? description?.recordedAt).map { phrasing.text(MomentWords.text($0)) })
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
      DataTable.markup(
        "Files of the capture that were read", ["Stage", "Part", "Digests"], Array(rows))
    }
  }
}

/// The part about how to make the output again.
struct RerunPart {
  let material: CaptureMaterial

  func markup() -> Markup {
    let isRedacted = material.phrasing.isRedacted
    let path = material.capture.path ?? material.description?.path
    let input = isRedacted ? "CAPTURE" : path.map(Self.quoted) ?? "CAPTURE"
    let output = isRedacted ? "DIR" : Self.quoted(material.layout.root.shown)
    let id =
      isRedacted
      ? "CAPTURE" : Self.quoted(material.layout.folder.shown)
    return .element(.section, .id("rerun")) {
      Markup.element(.h2) { "Run it again" }
      Markup.element(.p) { "What is not up to date:" }
      Markup.element(.pre, .classes("command")) {
        Markup.command(PagePhrasing.cut("scanmill run \(input) --output \(output)", most: 5000))
      }
      Markup.element(.p) { "Everything, including what is up to date:" }
      Markup.element(.pre, .classes("command")) {
        Markup.command(
          PagePhrasing.cut("scanmill run \(input) --output \(output) --forceall", most: 5000))
      }
      Markup.element(.p) { "How each stage stands, and why:" }
      Markup.element(.pre, .classes("command")) {
        Markup.command(PagePhrasing.cut("scanmill status \(id)", most: 5000))
      }
    }
  }

  /// Quotes a text as one argument for a shell.
  static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "/._-+@%~:,=".utf8.contains(byte)
    }
    // A leading dash would be taken for an option.
    if plain, !text.isEmpty, !text.hasPrefix("-"), !text.hasPrefix("~") { return text }
    let safe = text.hasPrefix("-") ? "./" + text : text
    return "'" + safe.replacing("'", with: "'\\''") + "'"
  }
}
