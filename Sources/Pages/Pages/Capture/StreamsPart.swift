import Core

extension CapturePieces {
  /// The part that compares counted lengths of streams with the app's declarations.
  func streamsPart() -> Markup? {
    guard let description = material.description else { return nil }
    let streams = description.streams
    guard !streams.isEmpty else { return nil }
    let unreadable = Set(description.errors.map(\.stream))
    return Tag.section(.id("streams")) {
      Tag.h2 { "Counted and declared" }
      Tag.table(.classes("data")) {
        Tag.caption { "What the files hold, and what the app says they hold" }
        Markup.head(Self.columns)
        Tag.tbody {
          for stream in streams { row(stream, isUnreadable: unreadable.contains(stream.name)) }
        }
      }
    }
  }

  private static let columns = [
    "Stream", "Counted", "Declared", "Verdict", "Written", "Size", "Rate", "Gaps", "File",
  ]

  private func row(_ stream: CaptureDescription.Stream, isUnreadable: Bool) -> Markup {
    let samples = stream.samples.values.max()
    let counted = stream.frames ?? samples
    let verdict = Self.verdict(counted, stream.declaredFrames, isUnreadable: isUnreadable)
    let size = stream.width.flatMap { width in stream.height.map { "\(width)×\($0)" } }
    let cells: [String] = [
      counted.map { FigureText.count($0) + (stream.frames == nil ? " samples" : "") } ?? "",
      stream.declaredFrames.map(FigureText.count) ?? "", verdict.words,
      pictures.written[stream.name].map(FigureText.count) ?? "", size ?? "",
      stream.rateHz.map { FigureText.significant($0) + "\u{A0}Hz" } ?? "",
      stream.gaps.map(FigureText.count) ?? "",
      [stream.file, stream.encoding.map { "(\($0))" }].compactMap(\.self).joined(separator: " "),
    ]
    return Tag.tr(Attribute("data-stream", stream.name)) {
      Tag.th(Attribute("scope", "row")) { Self.name(stream.name) }
      for (name, cell) in zip(Self.columns.dropFirst(), cells) {
        if name == "Verdict" {
          Tag.td(
            Attribute("data-label", name), Attribute("data-state", verdict.state)
          ) { Tag.span(.classes("state")) { cell } }
        } else {
          Tag.td(Attribute("data-label", name)) {
            if name == "File", !cell.isEmpty { phrasing.name(cell) }
            // Numbers and units, which are not broken inside.
            if name != "File" { cell }
          }
        }
      }
    }
  }

  private static func verdict(
    _ counted: Int?, _ declared: Int?, isUnreadable: Bool
  ) -> (words: String, state: String) {
    if isUnreadable { return ("cannot be read", "failed") }
    guard let counted, let declared else { return ("nothing declared", "waiting") }
    let (difference, isTooLarge) = counted.subtractingReportingOverflow(declared)
    if isTooLarge { return ("not as declared", "warning") }
    if difference == 0 { return ("as declared", "done") }
    return (
      "\(FigureText.count(Int(clamping: difference.magnitude))) \(difference < 0 ? "fewer" : "more")",
      "warning"
    )
  }

  private static func name(_ stream: String) -> String {
    switch stream {
    case "imu": "motion"
    case "cameraSettings": "camera settings"
    case "geo": "position"
    default: stream
    }
  }
}
