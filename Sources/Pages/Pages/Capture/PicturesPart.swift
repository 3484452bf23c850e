import Core
import Media
import Processing

/// The part with pictures: the same frames of all streams in columns.
extension PicturePieces {
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
            Attribute("fill", PixelColor.viridis((Double(step) + 0.5) / Double(steps)).hex))
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

/// Thumbnails of the same frames of every stream: at most twelve columns, at most 200 pixels wide,
/// together at most 700 KB in the page.
struct ContactSheet {
  enum Row: String, CaseIterable { case color, depth, aligned }

  struct Cell {
    /// `nil` if there is nothing to show, for which `words` states the reason.
    var jpeg: [UInt8]?
    var width: Int
    var height: Int
    var words: String
  }

  struct Column {
    var frame: Int
    var cells: [(row: Row, cell: Cell)]
  }

  let columns: [Column]
  let rows: [Row]
  let unreadable: [UnreadablePicture]

  static let mostColumns = 12
  static let widest = 200
  /// Size limit in the page; base64 takes four letters for three bytes.
  static let mostBytes = 700_000

  /// A picture before encoding.
  private struct Drawn {
    var image: ColorImage?
    var words: String
    var problem: UnreadablePicture?
  }

  /// `nil` if no stream has a picture.
  init?(
    color: PictureIndex?, depth: PictureIndex?, aligned: PictureIndex?,
    meters: ClosedRange<Double>
  ) {
    let all: [(Row, PictureIndex)] = [(.color, color), (.depth, depth), (.aligned, aligned)]
      .compactMap { row, index in index.map { (row, $0) } }
    guard !all.isEmpty else { return nil }
    rows = all.map(\.0)
    let frames = Self.frames(all.map(\.1))
    let drawn =
      (try? concurrentMap(count: frames.count) { index in
        Self.draw(frames[index], color, depth, aligned, meters)
      }) ?? []
    unreadable = drawn.flatMap { $0.compactMap(\.value.problem) }
    columns = Self.encoded(zip(frames, drawn).map { ($0, $1) }, rows)
  }

  /// Frames that all streams have; without any, those that one of them has.
  private static func frames(_ indices: [PictureIndex]) -> [Int] {
    let sets = indices.map { Set($0.entries.map(\.frame)) }
    guard let first = sets.first else { return [] }
    let common = sets.dropFirst().reduce(first) { $0.intersection($1) }
    let all = common.isEmpty ? sets.reduce(into: Set()) { $0.formUnion($1) } : common
    return all.sorted().evenly(mostColumns)
  }

  private static func draw(
    _ frame: Int, _ color: PictureIndex?, _ depth: PictureIndex?, _ aligned: PictureIndex?,
    _ meters: ClosedRange<Double>
  ) -> [Row: Drawn] {
    var result: [Row: Drawn] = [:]
    var small: ColorImage?
    if let color {
      result[.color] = drawn(color, frame) { entry throws(UnreadablePicture) in
        let picture = try color.color(entry).inColumn(widest)
        small = picture
        return (picture, "frame \(frame), color")
      }
    }
    if let depth {
      result[.depth] = drawn(depth, frame) { entry throws(UnreadablePicture) in
        let picture = try depth.depth(entry)
        let size = picture.size.inColumn(widest)
        let reduced = ReducedDepth(picture, width: size.width, height: size.height)
        return (
          reduced.picture(meters: meters), "frame \(frame), depth: \(reduced.words)"
        )
      }
    }
    if let aligned {
      result[.aligned] = drawn(aligned, frame) { entry throws(UnreadablePicture) in
        let picture = try aligned.depth(entry)
        let size = picture.size.inColumn(widest)
        let reduced = ReducedDepth(picture, width: size.width, height: size.height)
        let words = "frame \(frame), aligned depth: \(reduced.words)"
        // Depth on its own grid does not match the color picture.
        if let small, abs(small.width - reduced.width) <= 1, abs(small.height - reduced.height) <= 1
        {
          return (reduced.overlay(on: small, meters: meters), words + ", over color")
        }
        return (reduced.picture(meters: meters), words)
      }
    }
    return result
  }

  private static func drawn(
    _ index: PictureIndex, _ frame: Int,
    _ make: (PictureIndex.Entry) throws(UnreadablePicture) -> (ColorImage, String)
  ) -> Drawn {
    guard let entry = index.entry(frame) else {
      return Drawn(image: nil, words: "frame \(frame) has no picture here")
    }
    do throws(UnreadablePicture) {
      let (image, words) = try make(entry)
      return Drawn(image: image, words: words)
    } catch {
      return Drawn(image: nil, words: "frame \(frame) cannot be shown", problem: error)
    }
  }

  /// Encodes with the best quality that fits.
  private static func encoded(_ drawn: [(Int, [Row: Drawn])], _ rows: [Row]) -> [Column] {
    for (quality, width) in [(70, widest), (55, widest), (45, 160), (40, 120), (30, 96), (20, 64)] {
      let columns = drawn.map { frame, pictures in
        Column(
          frame: frame,
          cells: rows.map { row in
            (row, encode(pictures[row], others: pictures, quality: quality, width: width))
          })
      }
      let bytes = columns.flatMap(\.cells).reduce(0) {
        $0 + (($1.cell.jpeg?.count ?? 0) + 2) / 3 * 4
      }
      if bytes <= mostBytes { return columns }
    }
    return []
  }

  private static func encode(
    _ drawn: Drawn?, others: [Row: Drawn], quality: Int, width: Int
  ) -> Cell {
    // An empty cell has the size of the others of its frame.
    let like = drawn?.image ?? Row.allCases.lazy.compactMap { others[$0]?.image }.first
    var cell = Cell(
      jpeg: nil, width: like?.width ?? widest, height: like?.height ?? widest * 3 / 4,
      words: drawn?.words ?? "")
    guard let image = drawn?.image else { return cell }
    let small = image.width > width ? image.inColumn(width) : image
    (cell.width, cell.height) = (small.width, small.height)
    var bytes: [UInt8] = []
    do {
      var writer = try JPEGWriter(quality: quality)
      try writer.encode(rgb: small.rgb, width: small.width, height: small.height, into: &bytes)
      cell.jpeg = bytes
    } catch {
      cell.words = "cannot be shown"
    }
    return cell
  }
}

extension ReducedDepth {
  /// `0.42 m to 3.10 m, 84 % measured`.
  var words: String {
    guard let measured else { return "nothing measured" }
    return "\(FigureText.fixed(measured.lowerBound, 2)) m to "
      + "\(FigureText.fixed(measured.upperBound, 2)) m, "
      + "\(FigureText.percent(measuredShare)) measured"
  }
}
