import Media
import Core
import Processing

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
    return EvenChoice.of(all.sorted(), count: mostColumns)
  }

  private static func draw(
    _ frame: Int, _ color: PictureIndex?, _ depth: PictureIndex?, _ aligned: PictureIndex?,
    _ meters: ClosedRange<Double>
  ) -> [Row: Drawn] {
    var result: [Row: Drawn] = [:]
    var small: ColorImage?
    if let color {
      result[.color] = drawn(color, frame) { entry throws(UnreadablePicture) in
        let picture = SheetPicture.color(try color.color(entry), side: widest)
        small = picture
        return (picture, "frame \(frame), color")
      }
    }
    if let depth {
      result[.depth] = drawn(depth, frame) { entry throws(UnreadablePicture) in
        let picture = try depth.depth(entry)
        let size = SheetPicture.size(width: picture.width, height: picture.height, side: widest)
        let reduced = ReducedDepth(picture, width: size.width, height: size.height)
        return (
          SheetPicture.depth(reduced, meters: meters), "frame \(frame), depth: \(reduced.words)"
        )
      }
    }
    if let aligned {
      result[.aligned] = drawn(aligned, frame) { entry throws(UnreadablePicture) in
        let picture = try aligned.depth(entry)
        let size = SheetPicture.size(width: picture.width, height: picture.height, side: widest)
        let reduced = ReducedDepth(picture, width: size.width, height: size.height)
        let words = "frame \(frame), aligned depth: \(reduced.words)"
        // Depth on its own grid does not match the color picture.
        if let small, abs(small.width - reduced.width) <= 1, abs(small.height - reduced.height) <= 1
        {
          return (SheetPicture.overlay(small, reduced, meters: meters), words + ", over color")
        }
        return (SheetPicture.depth(reduced, meters: meters), words)
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
    let small = image.width > width ? SheetPicture.color(image, side: width) : image
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
