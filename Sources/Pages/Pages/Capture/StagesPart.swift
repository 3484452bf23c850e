import Core
import Engine

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
      record.map { MomentWords.text($0.started) } ?? "",
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
      guard let record = stage.record, let from = MomentWords.seconds(record.started) else {
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
