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
  func link(_ capture: NightCapture, inFull: Bool = false) -> Markup {
    let name = inFull ? Markup.name(capture.id) : shortened(capture.id)
    guard let address = capture.page.flatMap(address) else { return name }
    return .element(.a, .link(address)) { name }
  }

  /// The id, of which the part that many have in common is not seen.
  func shortened(_ id: String) -> Markup {
    guard let parts = ids.parts(id) else { return .name(id) }
    return .element(.bdi, Attribute("title", id)) {
      Markup(text: parts.head)
      Markup.element(.span, .classes("cut")) { Markup(text: parts.middle) }
      Markup(text: parts.tail)
    }
  }
}

/// A picture with sides of at most 96 pixels.
struct PageThumbnail: Sendable, Hashable {
  var jpeg: [UInt8]
  var width: Int
  var height: Int

  /// Size in a page, bytes.
  var pageBytes: Int { (jpeg.count + 2) / 3 * 4 }

  func element(named name: String) -> Markup {
    .element(
      .img, .picture(PictureData(.jpeg, jpeg)), Attribute("alt", name),
      Attribute("width", width), Attribute("height", height))
  }
}

/// Content of the page that is not in the report.
struct PageSupplies: Sendable {
  /// Thumbnails by capture id.
  var thumbnails: [String: PageThumbnail] = [:]
  /// The last lines of a log, by its path relative to the output folder.
  var log: @Sendable (String) -> [String]? = { _ in nil }

  /// Dates of earlier nights of which a page is kept, the newest first.
  var keptNights: [String] = []
  /// The page is the one that is kept when the next night begins: it lies in a folder of its own.
  var isKept = false

  func thumbnail(_ capture: NightCapture) -> PageThumbnail? { thumbnails[capture.id] }
}
