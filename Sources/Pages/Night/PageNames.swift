import Output
import Reports

/// Names and links of captures on the page of the night.
struct PageNames {
  private let ids: ShortIDs

  init(_ report: NightReport) { ids = ShortIDs(report.captures.map(\.id)) }

  func short(_ id: String) -> String { ids[id] }

  /// The short name, linked to the capture's page if there is one.
  func link(_ capture: NightCapture, inFull: Bool = false) -> Markup {
    let name = Markup.name(inFull ? capture.id : short(capture.id))
    guard let address = capture.page.flatMap({ PageAddress.below($0) }) else { return name }
    return .element(.a, .link(address)) { name }
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

  func thumbnail(_ capture: NightCapture) -> PageThumbnail? { thumbnails[capture.id] }
}
