import Captures
import Core
import Engine
import FoundationEssentials
import SystemPackage

/// The page of one capture, made from its output alone, since its input may no longer exist.
///
/// If something is absent, partial or damaged, only its own part is missing, and the page says so.
/// A capture without any artifact has a page too.
enum CapturePage {
  /// Largest size of a page in bytes; pictures are left out above it.
  static let mostBytes = 2_000_000

  /// The bytes of `report.html`.
  ///
  /// Cost: tables are read two to four times, at most some hundred depth pictures are decoded. Only
  /// the records of artifacts need memory that grows with the number of frames.
  ///
  /// - Parameters:
  ///   - capture: the capture in the report, redacted or not.
  ///   - layout: its output folder, with the real name.
  ///   - redaction: set for a page that is shown to others.
  ///   - families: the families that the capture may belong to.
  static func document(
    _ capture: CaptureRow, layout: OutputLayout, redaction: Redaction?,
    families: CaptureRegistry = .builtIn
  ) throws -> [UInt8] {
    let material = CaptureMaterial(capture, layout, redaction, families)
    let page = document(material, withPictures: true)
    return page.count <= mostBytes ? page : document(material, withPictures: false)
  }

  private static func document(_ material: CaptureMaterial, withPictures: Bool) -> [UInt8] {
    let pieces = CapturePieces(material, withPictures: withPictures)
    return Markup.document(
      head: Tag.title { pieces.pageTitle }, style: .capture, script: .common,
      body: Tag.main { parts(pieces) })
  }

  @MarkupBuilder private static func parts(_ pieces: CapturePieces) -> Markup {
    definitions()
    Tag.nav {
      Tag.a(.link(.file(["..", "index.html"]))) { "All captures of the night" }
    }
    pieces.verdictPart()
    pieces.pictures.markup()
    pieces.warningsPart()
    pieces.qualityPart()
    pieces.motionPart()
    pieces.timingPart()
    pieces.pathPart()
    pieces.depthPart()
    pieces.geoPart()
    pieces.streamsPart()
    pieces.stagesPart()
    pieces.settingsPart()
    pieces.calibrationPart()
    pieces.provenancePart()
    pieces.rerunPart()
  }

  /// Hatch patterns that plots use.
  private static func definitions() -> Markup {
    func hatch(_ id: StaticString, _ path: String) -> Markup {
      Tag.pattern(
        .id("\(id)"), Attribute("width", 8), Attribute("height", 8),
        Attribute("patternUnits", "userSpaceOnUse")
      ) { Tag.path(.classes("gap-stroke"), Attribute("d", path)) }
    }
    return Tag.svg(
      Attribute("class", "definitions"), Attribute("aria-hidden", "true"),
      Attribute("width", 0), Attribute("height", 0)
    ) {
      Tag.defs {
        hatch("gap-hatch", "M-2,2l4,-4M0,8l8,-8M6,10l4,-4")
        hatch("motion-gap-hatch", "M-2,6l4,4M0,0l8,8M6,-2l4,4")
      }
    }
  }

  /// Must be raised when the same material gives another page.
  private static let version = 2

  /// A digest that changes whenever the page would: records of artifacts, failures, `capture.json`,
  /// triage, and the report about the capture. Pictures and tables are not read: records identify
  /// artifacts.
  ///
  /// Cost: reads small files; the records of long captures are identified by size and modification
  /// time.
  static func fingerprint(_ capture: CaptureRow, layout: OutputLayout) -> String {
    let hasher = Digest.Hasher()
    func add(_ text: String) { hasher.update(Array(text.utf8) + [0]) }
    add("\(version) \(PageStyle.capture.text)")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    add((try? encoder.encode(capture)).map { String(decoding: $0, as: UTF8.self) } ?? "")
    guard let folder = HeldFolder(layout.root)?.below(layout.name) else {
      return hasher.finish().hex
    }
    func add(_ name: String, in place: HeldFolder?, as path: String) {
      guard let place, let stamp = place.stamp(of: name) else { return }
      if stamp.bytes <= largestRead,
        let bytes = place.stampedContents(of: name, limit: largestRead)?.bytes
      {
        add("\(path) \(Digest(of: bytes).hex)")
      } else {
        add("\(path) \(stamp.bytes) \(stamp.modifiedNanoseconds) \(stamp.inode)")
      }
    }
    add(OutputNames.document, in: folder, as: OutputNames.document)
    add(OutputNames.triage, in: folder.below(OutputNames.notes), as: "triage")
    for entry in ((try? folder.list()) ?? []).sorted(by: { $0.name < $1.name })
    where entry.kind == .folder && !entry.name.hasPrefix(".") {
      add(ArtifactRecord.fileName, in: folder.below(entry.name), as: entry.name)
    }
    for (holder, file) in [
      ("\(OutputNames.notes)/\(OutputNames.removed)", nil),
      (OutputNames.failed, OutputNames.failure),
    ] {
      let place = folder.below(holder)
      for entry in ((try? place?.list()) ?? []).sorted(by: { $0.name < $1.name }) {
        if let file {
          add(file, in: place?.below(entry.name), as: "\(holder)/\(entry.name)")
        } else if entry.kind == .file {
          add(entry.name, in: place, as: "\(holder)/\(entry.name)")
        }
      }
    }
    return hasher.finish().hex
  }

  private static let largestRead = 1 << 20
}

extension PageStyle {
  /// The common style plus that of capture pages.
  static let capture = PageStyle(text: common.text + capturePlots + capturePictures)

  /// Curves have the color of text, so that they are visible on any background; gaps differ by the
  /// direction of their hatching.
  private static let capturePlots = """
    figure.plot svg.plot{width:calc(100% - 4.75rem);margin:.5rem .75rem 0 4rem}
    figure.plot svg.plot.spans{width:calc(100% - 8.75rem);margin-left:8rem}
    figure.plot svg svg{overflow:hidden}
    svg .data{fill:none;stroke:var(--series-3);stroke-width:1.5;vector-effect:non-scaling-stroke;\
    stroke-linejoin:round;stroke-linecap:round}
    svg .fill{fill:var(--series-3);stroke:none}
    svg .marks{fill:var(--soft);stroke:var(--soft);stroke-width:1;vector-effect:non-scaling-stroke}
    svg .tick-y{text-anchor:end;fill:var(--soft)}
    svg .tick-x{text-anchor:middle;fill:var(--soft)}
    svg .axis-name{text-anchor:end;fill:var(--soft)}
    svg .lane{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
    svg g.gap,svg g.motion-gap{fill-opacity:1}
    svg g.gap rect{fill:url(#gap-hatch)}svg g.motion-gap rect{fill:url(#motion-gap-hatch)}
    svg g.gap line,svg g.motion-gap line{stroke:var(--failed);stroke-width:2}
    svg g.motion-gap line{stroke-dasharray:4 3}
    .gap-stroke{stroke:var(--failed);stroke-width:2;stroke-opacity:.75}
    svg.definitions{position:absolute;width:0;height:0}
    svg g.span rect{fill:var(--series-3)}svg g.span line{stroke:var(--series-3);stroke-width:2}
    svg g.span.failed rect{fill:var(--failed)}svg g.span.failed line{stroke:var(--failed)}
    svg .cut{stroke:var(--soft);stroke-width:2;stroke-dasharray:2 4}
    figure.plot svg.map{width:100%;max-width:32rem;height:auto;border:1px solid var(--line);\
    border-radius:.5rem}
    svg.map text{font-size:16px}
    svg.map .data{stroke-width:2.5}
    svg.map .jump{fill:none;stroke:var(--failed);stroke-width:2;stroke-dasharray:3 5;\
    vector-effect:non-scaling-stroke}
    svg.map .start,svg.map .start-core,svg.map .end{fill:none;vector-effect:non-scaling-stroke;\
    stroke:currentColor;stroke-width:16px;stroke-linecap:round}
    svg.map .start-core{stroke:var(--paper);stroke-width:9px}
    svg.map .end{stroke-linecap:square;stroke-width:10px}
    svg.map .scale-bar{fill:none;stroke:currentColor;stroke-width:2}

    """

  private static let capturePictures = """
    .verdict h1{margin-bottom:.25rem}
    .verdict-line{font-size:1.125rem}
    .verdict dl.facts{margin-top:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,8.5rem),1fr))}
    @media (min-width:40rem){.verdict dl.facts{grid-template-columns:repeat(auto-fill,minmax(11rem,1fr))}}
    @media (max-width:39.99rem){table.data caption{display:block}}
    .failure,.remedy{margin-bottom:.5rem}
    .warning-card.note{margin:0 0 1rem}
    ol.sheet{list-style:none;padding:0;display:grid;gap:.75rem .5rem;\
    grid-template-columns:repeat(3,1fr)}
    @media (min-width:40rem){ol.sheet{grid-template-columns:repeat(6,1fr)}}
    ol.sheet li{max-width:200px}
    ol.sheet img,ol.sheet svg{width:100%;height:auto;display:block;margin-bottom:.25rem}
    ol.sheet p{margin:0;text-align:center}
    svg.no-picture{background:var(--panel);border:1px dashed var(--soft)}
    svg.no-picture .cross{stroke:var(--line);stroke-width:2}
    svg.no-picture text{text-anchor:middle}
    figure.depth-scale{max-width:32rem;padding-right:1rem}
    figure.depth-scale svg.hatch-sample{display:inline-block;width:28px;height:14px;vertical-align:-2px;\
    overflow:hidden}
    .hatch-ground{fill:var(--panel)}
    table.figures td,table.figures th{padding-top:.125rem;padding-bottom:.125rem}
    pre.command{overflow-wrap:anywhere}
    @media print{ol.sheet{grid-template-columns:repeat(6,1fr)}ol.sheet li{break-inside:avoid}}

    """
}

/// The computed content of a page's parts, which the summary at the top needs as well. Each part is a function of it.
struct CapturePieces {
  let material: CaptureMaterial
  let pictures: PicturePieces
  let motion: MotionSeries?
  let motionProblems: [String]
  /// Problems of the artifact from which the times of frames come.
  let tableProblems: [String]
  let path: CameraPath?
  /// The world of the camera path.
  let world: PoseWorld
  let geo: GeoPath?
  /// Series of a capture that was judged.
  let qualitySeries: QualitySeries?
  /// Short results for the summary.
  let findings: [(name: String, value: String)]

  var phrasing: PagePhrasing { material.phrasing }

  init(_ material: CaptureMaterial, withPictures: Bool) {
    self.material = material
    let published = material.published
    pictures = PicturePieces(material, withPictures: withPictures)
    // A damaged record is reported in the place of its part.
    var problems =
      published.imu.flatMap { stage in
        stage.problem.map { ["\(stage.name): \($0)."] }
      } ?? []
    motion = material.table("imu.csv", of: published.imu).flatMap {
      MotionSeries(
        $0, gaps: material.familyDescription.motionGaps, frames: material.frames,
        problems: &problems)
    }
    motionProblems = problems
    tableProblems =
      published.tables.flatMap { stage in stage.problem.map { ["\(stage.name): \($0)."] } } ?? []
    world =
      material.description?.world
      ?? material.familyDescription.world(material.description?.generation ?? "")
    path = CameraPath(
      material.table("poses.csv", of: published.tables), isZUp: world == .zUp)
    geo =
      material.phrasing.isRedacted ? nil : GeoPath(material.table("geo.csv", of: published.tables))

    qualitySeries =
      material.capture.quality == nil
      ? nil : QualitySeries(material.table("quality.csv", of: published.quality))

    var findings: [(name: String, value: String)] = []
    if let quality = material.capture.quality {
      findings.append(("Quality", quality.verdict.rawValue))
    }
    if let frames = material.frames, let median = frames.median {
      findings.append(("Frame rate", "\(FigureText.significant(1e9 / median)) Hz"))
      let longest = frames.gaps.map(\.length).max() ?? 0
      findings.append(
        (
          "Frame gaps",
          frames.gapCount == 0
            ? "none"
            : "\(FigureText.count(frames.gapCount)), longest \(FigureText.duration(Double(longest) / 1e9))"
        ))
    }
    if let share = pictures.survey?.medianShare {
      findings.append(("Depth measured", "\(FigureText.percent(share)) of the pixels"))
    }
    if let motion {
      findings.append(
        (
          "Motion", "\(FigureText.counted(motion.counts.values.max() ?? 0, "sample")) per sensor"
        ))
      findings.append(("Motion gaps", motion.gapWords.hasPrefix("No") ? "none" : motion.gapWords))
    }
    if let path, path.count > 0 {
      findings.append(
        (
          "Camera path",
          MapPlot.lengthText(path.sketch.length)
            + (path.jumpCount == 0
              ? ", no jumps" : ", \(FigureText.counted(path.jumpCount, "jump"))")
        ))
    }
    self.findings = findings
  }
}

extension CapturePieces {
  private static let mostEntries = 200

  /// The part about warnings, grouped by code: meaning, remedy, subjects. `nil` without any.
  func warningsPart() -> Markup? {
    let warnings = material.warnings
    guard !warnings.isEmpty else { return nil }
    let real = warnings.withoutNotes
    let notes = warnings.filter { $0.severity == .note }
    return Tag.section(.id("warnings")) {
      Tag.h2 { "Warnings" }
      Tag.p { Self.sentence(real.counted, notes) }
      let kinds = Self.groups(real)
      for group in kinds { self.group(group, .h3, most: Self.most(kinds.count)) }
      if !notes.isEmpty {
        if !real.isEmpty { Tag.h3 { "Notes" } }
        let kinds = Self.groups(notes)
        for group in kinds {
          self.group(group, real.isEmpty ? .h3 : .h4, most: Self.most(kinds.count))
        }
      }
    }
  }

  /// The number of kinds equals the number of cards.
  private static func sentence(_ warnings: WarningCount, _ notes: [CaptureWarning]) -> String {
    let kinds = Set(notes.map(\.code)).count
    let noteWords =
      kinds == 0
      ? ""
      : "\(FigureText.counted(kinds, "kind of note", "kinds of notes")): common in ordinary recordings and handled without loss."
    return warnings.isNone ? noteWords : "\(warnings.sentence). " + noteWords
  }

  private static func groups(_ warnings: [CaptureWarning]) -> [[CaptureWarning]] {
    warnings.map(\.code).uniqued.map { code in warnings.filter { $0.code == code } }
  }

  /// Largest number of subjects per card. Every kind has a card, whatever the number of kinds.
  private static func most(_ cards: Int) -> Int { max(20, mostEntries / max(1, cards)) }

  private func group(_ group: [CaptureWarning], _ heading: Tag, most: Int) -> Markup {
    guard let first = group.first else { return .nothing }
    let entry = CodeReference[first.code.rawValue]
    let isNote = first.severity == .note
    return Tag.div(
      Attribute("class", isNote ? "warning-card note" : "warning-card card"),
      Attribute("data-state", isNote ? "done" : "warning"),
      Attribute("data-code", first.code.rawValue)
    ) {
      heading() {
        Tag.span(.classes("state")) { isNote ? "Note: " : "Warning: " }
        Markup.prose(entry?.meaning ?? first.code.rawValue)
      }
      Tag.ul {
        for warning in group.prefix(most) {
          Tag.li {
            Tag.strong { phrasing.name(warning.subject) }
            ", \(FigureText.count(warning.count)): "
            phrasing.text(warning.message)
          }
        }
        if group.count > most {
          Tag.li { "and \(FigureText.count(group.count - most)) more" }
        }
      }
      if let entry {
        Tag.p {
          Tag.strong { "What to do: " }
          Markup.prose(entry.remedy)
        }
      }
      Tag.p(.classes("small")) { Tag.code { first.code.rawValue } }
    }
  }
}

/// Results from a capture's pictures that several parts need.
struct PicturePieces {
  let sheet: ContactSheet?
  let meters: ClosedRange<Double>
  let thumbnail: Markup?
  /// Sentences about what cannot be displayed.
  let problems: [String]
  /// Number of pictures of each existing stream.
  let counts: [(ContactSheet.Row, Int)]
  let survey: DepthSummary?
  let depthProblems: [String]
  /// Number of written pictures, by stream.
  let written: [String: Int]

  init(_ material: CaptureMaterial, withPictures: Bool) {
    let (published, layout) = (material.published, material.layout)
    let color = PictureIndex(published.color, layout)
    let depth = PictureIndex(published.depth, layout)
    let aligned = PictureIndex(published.aligned, layout)
    // If depth itself was not exported, aligned depth is used.
    let survey = (depth ?? aligned).map { DepthSummary($0) }
    self.survey = survey
    meters = survey?.shownMeters ?? 0...1
    sheet =
      withPictures
      ? ContactSheet(color: color, depth: depth, aligned: aligned, meters: meters) : nil
    func problems(_ stages: [PublishedStages.Stage?]) -> [String] {
      stages.compactMap { stage in
        stage.flatMap { stage in
          stage.problem.map { "\(material.phrasing.text(stage.name, most: 100)): \($0)." }
        }
      }
    }
    var notes = problems([published.color, published.depth, published.aligned])
    let failed = (sheet?.unreadable ?? []).map { material.phrasing.text($0.words) }
    if let first = failed.first {
      notes.append(
        "\(FigureText.counted(failed.count, "picture")) of this sheet cannot be shown: \(first)"
          + (failed.count > 1 ? ", and others." : "."))
    }
    if !withPictures {
      notes.append("Pictures are left out: with them the page would be larger than 2 MB.")
    }
    var depthNotes = problems([published.depth])
    let unreadable = survey?.unreadable.map { material.phrasing.text($0.words) } ?? []
    if let first = unreadable.first {
      depthNotes.append(
        "\(FigureText.counted(unreadable.count, "depth picture")) cannot be read: \(first)"
          + (unreadable.count > 1 ? ", and others. " : ". ")
          + "`scanmill run` makes damaged artifacts again.")
    }
    depthProblems = depthNotes
    var written: [String: Int] = [:]
    if let color { written["color"] = color.entries.count }
    if let depth { written["depth"] = depth.entries.count }
    if let count = material.frames?.pictures["confidence"] { written["confidence"] = count }
    self.written = written
    let indices: [(ContactSheet.Row, PictureIndex?)] = [
      (.color, color), (.depth, depth), (.aligned, aligned),
    ]
    counts = indices.compactMap { row, index in index.map { (row, $0.entries.count) } }
    thumbnail = sheet == nil && withPictures ? Self.thumbnail(material) : nil
    self.problems = notes
  }

  /// The thumbnail that some families store, if nothing else is published.
  private static func thumbnail(_ material: CaptureMaterial) -> Markup? {
    guard let stage = material.published.thumbnail, stage.record != nil,
      let bytes = HeldFolder.contents(
        of: material.layout.artifact(stage.name).appending("thumbnail.png"),
        below: material.layout.root, limit: 300_000), bytes.count > 8,
      bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
    else { return nil }
    return Tag.img(.picture(PictureData(.png, bytes)), Attribute("alt", "thumbnail of the capture"))
  }
}
