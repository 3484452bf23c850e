import Core
import Processing

/// The part with pictures: the same frames of all streams in columns.
struct PicturesPart {
  let sheet: ContactSheet?
  let meters: ClosedRange<Double>
  let thumbnail: Markup?
  /// Sentences about what cannot be displayed.
  let problems: [String]
  /// Number of pictures of each existing stream.
  let counts: [(ContactSheet.Row, Int)]

  func markup() -> Markup? {
    if sheet == nil, problems.isEmpty, thumbnail == nil { return nil }
    return Tag.section(.id("pictures")) {
      Tag.h2 { "Pictures" }
      if let sheet, !sheet.columns.isEmpty {
        Tag.p { words(sheet) }
        if sheet.rows.contains(where: { $0 != .color }) { scale() }
        Tag.ol(.classes("sheet")) {
          for column in sheet.columns { self.column(column) }
        }
      } else {
        thumbnail
      }
      for problem in problems { Tag.p(.classes("notice")) { problem } }
    }
  }

  /// The picture that the page begins with; `nil` without any.
  var first: Markup? {
    for column in sheet?.columns ?? [] {
      if let (row, cell) = column.cells.first(where: { $0.1.jpeg != nil }) {
        return picture(row, cell)
      }
    }
    return thumbnail
  }

  private func words(_ sheet: ContactSheet) -> String {
    let all = counts.map { "\(FigureText.count($0.1)) \($0.0.words)" }.joined(separator: ", ")
    let order = sheet.rows.map(\.words).joined(separator: ", below it ")
    let columns = FigureText.counted(sheet.columns.count, "frame")
    return sheet.rows.count == 1
      ? "\(columns), evenly chosen, of \(all) pictures."
      : "\(columns), evenly chosen; each column is one of them: \(order). Pictures in total: \(all)."
  }

  private func column(_ column: ContactSheet.Column) -> Markup {
    Tag.li {
      for (row, cell) in column.cells { picture(row, cell) }
      Tag.p(.classes("small")) { "frame \(column.frame)" }
    }
  }

  private func picture(_ row: ContactSheet.Row, _ cell: ContactSheet.Cell) -> Markup {
    if let jpeg = cell.jpeg {
      return Tag.img(
        .picture(PictureData(.jpeg, jpeg)), Attribute("width", cell.width),
        Attribute("height", cell.height), Attribute("alt", cell.words),
        Attribute("data-row", row.rawValue))
    }
    return Tag.svg(
      Attribute("class", "no-picture"), Attribute("role", "img"), .label(cell.words),
      Attribute("viewBox", "0 0 \(cell.width) \(cell.height)"),
      Attribute("width", cell.width), Attribute("height", cell.height),
      Attribute("data-row", row.rawValue)
    ) {
      Tag.title { cell.words }
      Tag.path(
        .classes("cross"),
        Attribute("d", "M0,0L\(cell.width),\(cell.height)M\(cell.width),0L0,\(cell.height)"))
      PlotPath.text(
        "middle", x: "\(cell.width / 2)", y: cell.height / 2 + 5, "no \(row.words)")
    }
  }

  /// The legend: colors of depth in meters, and the meaning of hatching.
  private func scale() -> Markup {
    let ticks = NiceTicks(meters, most: 5)
    let steps = 32
    let name =
      "Colors of depth: from dark blue at \(FigureText.fixed(meters.lowerBound, 1)) m to yellow at "
      + "\(FigureText.fixed(meters.upperBound, 1)) m; hatched: no measurement"
    return Tag.figure(Attribute("class", "plot depth-scale")) {
      Tag.svg(
        Attribute("role", "img"), .label(name), Attribute("width", "100%"),
        Attribute("height", 40)
      ) {
        Tag.title { name }
        for step in 0..<steps {
          Tag.rect(
            Attribute("x", StripPlot.percent(Double(step), in: 0...Double(steps))),
            Attribute("width", "\(100.0 / Double(steps) + 0.1)%"), Attribute("y", 0),
            Attribute("height", 16),
            Attribute("fill", Viridis.hex((Double(step) + 0.5) / Double(steps))))
        }
        for value in ticks.values {
          let place = StripPlot.percent(value, in: meters)
          PlotPath.upright("axis", x: place, from: 16, to: 21)
          PlotPath.text("tick-x", x: place, y: 35, ticks.text(value) + " m")
        }
      }
      Tag.figcaption(.classes("small")) {
        Tag.svg(
          Attribute("class", "hatch-sample"), Attribute("width", 28),
          Attribute("height", 14), Attribute("viewBox", "0 0 28 14"),
          Attribute("aria-hidden", "true")
        ) {
          Tag.rect(.classes("hatch-ground"), Attribute("width", 28), Attribute("height", 14))
          Tag.path(
            .classes("hatch"),
            Attribute("d", "M0,7L7,0M0,14L14,0M7,14L21,0M14,14L28,0M21,14L28,7"))
        }
        " hatched: no measurement. White lines in aligned depth mark jumps in distance. They must lie where "
        "objects end in the color picture."
      }
    }
  }
}

extension ContactSheet.Row {
  var words: String {
    switch self {
    case .color: "color"
    case .depth: "depth"
    case .aligned: "aligned depth over color"
    }
  }
}
