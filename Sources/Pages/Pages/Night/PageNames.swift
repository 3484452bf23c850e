import Core
import Engine

/// Names and links of captures on the page of the night.
struct PageNames {
  private let ids: MiddleShortIDs
  /// Names of folders between the page and the output: `..` for a page one folder below it.
  private let above: [String]

  init(_ report: NightReport, above: [String] = []) {
    ids = MiddleShortIDs(report.captures.map(\.id))
    self.above = above
  }

  func short(_ id: String) -> String { ids[id] }

  /// The address of a page below the output folder.
  func address(_ page: String) -> PageAddress? {
    let names = page.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
    return .file(above + names)
  }

  /// The short name, linked to the capture's page if there is one. What it leaves out is there for whoever
  /// searches or copies it, and for readers.
  func link(_ capture: CaptureRow, inFull: Bool = false) -> Markup {
    let name = inFull ? Markup.name(capture.id) : shortened(capture.id)
    guard let address = capture.page.flatMap(address) else { return name }
    return Tag.a(.link(address)) { name }
  }

  /// The id, of which the part that many have in common is not seen.
  func shortened(_ id: String) -> Markup {
    guard let parts = ids.parts(id) else { return .name(id) }
    return Tag.bdi(Attribute("title", id)) {
      Markup(text: parts.head)
      Tag.span(.classes("cut")) { Markup(text: parts.middle) }
      Markup(text: parts.tail)
    }
  }
}

/// A picture with sides of at most 96 pixels.
struct PageThumbnail: Hashable {
  var jpeg: [UInt8]
  var width: Int
  var height: Int

  /// Size in a page, bytes.
  var pageBytes: Int { (jpeg.count + 2) / 3 * 4 }

  func element(named name: String) -> Markup {
    Tag.img(
      .picture(PictureData(.jpeg, jpeg)), Attribute("alt", name),
      Attribute("width", width), Attribute("height", height))
  }
}

/// Content of the page that is not in the report.
struct PageSupplies {
  /// Thumbnails by capture id.
  var thumbnails: [String: PageThumbnail] = [:]
  /// The last lines of a log, by its path relative to the output folder.
  var log: @Sendable (String) -> [String]? = { _ in nil }

  /// Dates of earlier nights of which a page is kept, the newest first.
  var keptNights: [String] = []
  /// The page is the one that is kept when the next night begins: it lies in a folder of its own.
  var isKept = false

  func thumbnail(_ capture: CaptureRow) -> PageThumbnail? { thumbnails[capture.id] }
}

/// Ids shortened in the middle, so that what differs stays: apps begin names with a word and a date that all
/// captures of a night share.
struct MiddleShortIDs {
  /// Characters that are left in front and at the end; the end is longer where that is needed to tell ids apart.
  static let head = 10
  static let leastTail = 14

  private var tails: [String: Int] = [:]

  /// Cost: proportional to the number of ids and the length of what they have in common.
  init(_ ids: some Sequence<String>) {
    // A short one is shown in full, and no other may look like it.
    var open = Set(ids).filter { $0.count > Self.head + Self.leastTail + 3 && Self.isPlain($0) }
    var tail = Self.leastTail
    while !open.isEmpty {
      var alike: Set<String> = []
      for group in Dictionary(grouping: open, by: { Self.text($0, tail) }).values {
        if group.count == 1 { tails[group[0]] = tail } else { alike.formUnion(group) }
      }
      tail += 4
      // Cutting must save something.
      open = alike.filter { $0.count > Self.head + tail + 3 }
    }
  }

  /// Escaped characters must not be cut apart.
  private static func isPlain(_ id: String) -> Bool {
    id.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  private static func text(_ id: String, _ tail: Int) -> String {
    "\(id.prefix(head))…\(id.suffix(tail))"
  }

  /// `nil`: the id is shown in full.
  func parts(_ id: String) -> (head: String, middle: String, tail: String)? {
    guard let tail = tails[id] else { return nil }
    return (
      String(id.prefix(Self.head)), String(id.dropFirst(Self.head).dropLast(tail)),
      String(id.suffix(tail))
    )
  }

  /// `session_20…1-20_kitchen`; unknown and short ids are unchanged.
  subscript(id: String) -> String { tails[id].map { Self.text(id, $0) } ?? id }
}
