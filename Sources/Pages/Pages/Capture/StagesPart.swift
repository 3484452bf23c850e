import Captures
import Core
import Engine
import SystemPackage

extension CapturePieces {
  /// The part about stages: a timeline, with reasons and resources.
  func stagesPart() -> Markup? {
    guard !material.published.stages.isEmpty else { return nil }
    return Tag.section(.id("stages")) {
      Tag.h2 { "Stages" }
      timeline()
      Tag.table(.classes("data")) {
        Tag.caption { "Stages, why they ran, and what they took" }
        Markup.head(Self.columns)
        Tag.tbody { for stage in material.published.stages { row(stage) } }
      }
      details()
    }
  }

  private static let columns = [
    "Stage", "State", "Reason", "Seconds", "Cores", "Memory", "Frames", "Written", "Made",
  ]

  private func row(_ stage: PublishedStages.Stage) -> Markup {
    let state = Self.state(stage)
    let record = stage.record
    let cores = record.flatMap { $0.seconds > 0 ? $0.cpuSeconds / $0.seconds : nil }
    let bytes = record.map { $0.outputs.reduce(Int64(0)) { $0 &+ max(0, $1.bytes) } }
    let cells: [String] = [
      stage.report?.reason?.rawValue.replacing("-", with: " ") ?? "",
      record.map { FigureText.significant($0.seconds) } ?? "",
      cores.map { FigureText.fixed($0, 1) } ?? "",
      record.map { ByteCount.text($0.peakMemoryBytes) } ?? "",
      record.map { FigureText.count($0.frames) } ?? "", bytes.map(ByteCount.text) ?? "",
      record.map { LocalTime.dated($0.started) } ?? "",
    ]
    return Tag.tr(Attribute("data-stage", phrasing.text(stage.name, most: 200))) {
      Tag.th(Attribute("scope", "row")) { phrasing.name(stage.name) }
      Tag.td(
        Attribute("data-label", "State"), Attribute("data-state", state.state)
      ) { Tag.span(.classes("state")) { state.words } }
      for (name, cell) in zip(Self.columns.dropFirst(2), cells) {
        Tag.td(Attribute("data-label", name)) { cell }
      }
    }
  }

  private static func state(_ stage: PublishedStages.Stage) -> (words: String, state: String) {
    if stage.problem != nil { return ("damaged", "failed") }
    if stage.failure != nil || !(stage.record?.problems.isEmpty ?? true) {
      return (stage.record == nil ? "failed" : "failed, an earlier result is kept", "failed")
    }
    if stage.record != nil {
      let words =
        switch stage.report?.outcome {
        case .made: "done"
        case .upToDate: "up to date"
        default: "done"
        }
      return (stage.isRemoved ? "\(words), removed after use" : words, "done")
    }
    return switch stage.report?.outcome {
    case .failed: ("failed", "failed")
    case .blocked: ("blocked", "failed")
    case .interrupted: ("interrupted", "waiting")
    case .skipped: ("skipped", "waiting")
    case .notPossible: ("not possible", "waiting")
    case .made, .upToDate: ("gone: its artifact no longer exists", "failed")
    case nil: ("not made", "waiting")
    }
  }

  /// Details that the state alone does not show.
  @MarkupBuilder private func details() -> Markup {
    for stage in material.published.stages {
      let problems =
        [stage.problem, stage.failure?.message].compactMap(\.self)
        + (stage.record?.problems ?? [])
      for problem in problems.prefix(10) {
        Tag.p(.classes("notice")) {
          Tag.strong { phrasing.name(stage.name) }
          ": "
          phrasing.text(problem, most: 2000)
        }
      }
    }
    let idle = material.published.stages.filter {
      $0.record == nil && $0.report?.why.message != nil
    }
    if !idle.isEmpty {
      Tag.ul(.classes("small")) {
        for stage in idle {
          Tag.li {
            phrasing.name(stage.name)
            ": "
            phrasing.text(stage.report?.why.message ?? "")
          }
        }
      }
    }
  }

  private func timeline() -> Markup {
    let rows: [SpanPlot.Row] = material.published.stages.compactMap { stage in
      guard let record = stage.record, let from = LocalTime(record.started)?.seconds else {
        return nil
      }
      let length = record.seconds.isFinite ? max(0, record.seconds) : 0
      let name = phrasing.text(stage.name, most: 16)
      return SpanPlot.Row(
        label: name, from: from, to: from + length,
        words: "\(name): \(FigureText.duration(length))",
        isFailed: Self.state(stage).state == "failed")
    }
    guard rows.count > 1 else { return .nothing }
    let busiest = rows.max { $0.to - $0.from < $1.to - $1.from }
    let name =
      "Timeline of \(FigureText.counted(rows.count, "stage"))"
      + (busiest.map { ", the longest \($0.words)" } ?? "")
    return Tag.figure(Attribute("class", "plot timeline")) {
      SpanPlot(rows: rows, name: name).markup()
      Tag.figcaption(.classes("small")) {
        name
          + ". Times add up only where stages do not run in parallel. The table below has the figures."
      }
    }
  }
}

/// The published artifacts of a capture by stage, and the failures of other stages.
struct PublishedStages {
  struct Stage {
    var name: String
    /// `nil` if there is no valid record.
    var record: ArtifactRecord?
    /// Published, used and then removed.
    var isRemoved = false
    /// Why the record is not trusted.
    var problem: String?
    /// How the last attempt failed.
    var failure: Failure?
    /// The stage's entry in the report of the last run.
    var report: StageReport?
  }

  /// In the order of the last run, then by start time.
  private(set) var stages: [Stage] = []
  /// The last run that processed the capture.
  private(set) var run: RunExcerpt?

  init(_ layout: OutputLayout, ids: [String]) {
    run = RunExcerpt.last(of: layout, ids: ids)
    var names: [String] = []
    func add(_ name: String) {
      if !names.contains(name), names.count < 200 { names.append(name) }
    }
    let reports = run?.stages ?? []
    for report in reports { add(report.stage) }
    let folder = HeldFolder(layout.root)?.below(layout.name)
    var found: [Stage] = []
    for entry in (try? folder?.list()) ?? []
    where entry.kind == .folder && !entry.name.hasPrefix(".") {
      guard let artifact = folder?.below(entry.name) else { continue }
      if artifact.stamp(of: ArtifactRecord.fileName) != nil {
        found.append(Self.read(entry.name, layout))
      }
    }
    let known = Set(found.map(\.name))
    for name in Self.names(
      in: folder?.below("\(OutputNames.notes)/\(OutputNames.removed)"), ending: ".json")
    where !known.contains(name) {
      if let record = ArtifactStore(layout).record(name) {
        found.append(Stage(name: name, record: record, isRemoved: true))
      }
    }
    found.sort { ($0.record?.started ?? "~", $0.name) < ($1.record?.started ?? "~", $1.name) }
    for stage in found { add(stage.name) }
    let failed =
      ((try? folder?.below(OutputNames.failed)?.list()) ?? []).filter { $0.kind == .folder }.map(
        \.name)
    for name in failed.sorted() { add(name) }
    stages = names.map { name in
      var stage = found.first { $0.name == name } ?? Stage(name: name)
      stage.report = reports.first { $0.stage == name }
      if failed.contains(name) { stage.failure = Failure(of: name, layout) }
      return stage
    }
  }

  /// The stage that makes the artifact known as `name`: of that name, else the first of that kind.
  func stage(
    _ name: String, uses kind: String, where fits: (ArtifactRecord) -> Bool = { _ in true }
  )
    -> Stage?
  {
    func isIt(_ stage: Stage) -> Bool {
      stage.record.map { $0.uses == kind && fits($0) } ?? false
    }
    return stages.first { $0.name == name && ($0.problem != nil || isIt($0)) }
      ?? stages.first { isIt($0) && !$0.isRemoved }
  }

  var color: Stage? { stage("color", uses: "decode-color") }
  var depth: Stage? {
    stage("depth", uses: "export-images") { $0.parameters["stream"] == .string("depth") }
  }
  var aligned: Stage? { stage("aligned", uses: "align-depth") }
  var imu: Stage? { stage("imu", uses: "match-imu") }
  var tables: Stage? { stage("tables", uses: "export-tables") }
  /// The stage that judges.
  var quality: Stage? { stage(CaptureQuality.usualStage, uses: CaptureQuality.stageKind) }
  var thumbnail: Stage? { stage("thumbnail", uses: "make-thumbnail") }

  private static func names(in folder: HeldFolder?, ending: String) -> [String] {
    ((try? folder?.list()) ?? []).filter { $0.kind == .file && $0.name.hasSuffix(ending) }
      .map { String($0.name.dropLast(ending.count)) }.sorted()
  }

  private static func read(_ name: String, _ layout: OutputLayout) -> Stage {
    var stage = Stage(name: name)
    guard let record = ArtifactRecord(at: layout.record(name), of: layout) else {
      stage.problem = "its record artifact.json cannot be read"
      return stage
    }
    if let problem = record.problem(of: name) {
      stage.problem = "its record artifact.json is not valid: \(problem)"
    } else {
      stage.record = record
    }
    return stage
  }
}

/// Time spans in rows, such as the stages of a capture. Pauses longer than a minute are cut out and
/// marked, so that work on different days remains readable.
struct SpanPlot {
  struct Row: Hashable {
    var label: String
    /// Seconds on a common clock.
    var from: Double
    var to: Double
    var words: String
    var isFailed = false
  }

  var rows: [Row]
  var name: String

  private static let rowHeight = 26
  private static let longestPause = 60.0

  /// The positions of the rows with long pauses cut out, the positions of the cuts, and the total
  /// length.
  func laidOut() -> (spans: [(from: Double, to: Double)], cuts: [Double], length: Double) {
    let order = rows.indices.sorted { rows[$0].from < rows[$1].from }
    var spans = [(from: Double, to: Double)](repeating: (0, 0), count: rows.count)
    var cuts: [Double] = []
    var (shift, busyUntil) = (0.0, -Double.infinity)
    for index in order {
      let row = rows[index]
      if busyUntil == -.infinity {
        shift = row.from
      } else if row.from - busyUntil > Self.longestPause {
        // A pause is drawn with half the height of a row.
        let end = busyUntil - shift
        cuts.append(end)
        shift = row.from - end
      }
      busyUntil = max(busyUntil, row.to)
      spans[index] = (row.from - shift, max(row.from, row.to) - shift)
    }
    let length = spans.map(\.to).max() ?? 0
    return (spans, cuts, length > 0 ? length : 1)
  }

  func markup() -> Markup {
    let (spans, cuts, length) = laidOut()
    let bottom = rows.count * Self.rowHeight
    let range = 0...length
    let ticks = NiceTicks(range, most: 5)
    return Tag.svg(
      Attribute("class", "plot spans"), Attribute("role", "img"), .label(name),
      Attribute("width", "100%"), Attribute("height", bottom + 34)
    ) {
      Tag.title { name }
      ticks.grid(in: range, bottom: bottom)
      PlotPath.across("axis", y: bottom)
      for cut in cuts {
        let place = StripPlot.percent(cut, in: range)
        Tag.line(
          .classes("cut"), Attribute("x1", place), Attribute("x2", place),
          Attribute("y1", 0), Attribute("y2", bottom)
        ) { Tag.title { "a pause is cut out here" } }
      }
      for (index, row) in rows.enumerated() {
        let (from, to) = spans[index]
        let top = index * Self.rowHeight
        let left = StripPlot.percent(from, in: range)
        Tag.g(Attribute("class", row.isFailed ? "span failed" : "span")) {
          Tag.title { row.words }
          Tag.rect(
            Attribute("x", left), Attribute("y", top + 5),
            Attribute("width", StripPlot.percent(to - from, in: range)),
            Attribute("height", Self.rowHeight - 10))
          PlotPath.upright(x: left, from: top + 5, to: top + Self.rowHeight - 5)
        }
        PlotPath.text("tick-y", x: "-6", y: top + 17, row.label)
      }
      PlotPath.text(
        "axis-name", x: "100%", y: bottom + 31, "seconds since the first of them began")
    }
  }
}
