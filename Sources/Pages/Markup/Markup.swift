import Storage

/// A piece of a page: well-formed markup, made from elements and text only. No string is ever markup:
/// whatever text comes in is escaped here and nowhere else.
public struct Markup: Sendable, Hashable {
  /// UTF-8.
  public private(set) var bytes: [UInt8]

  public static let nothing = Markup(bytes: [])

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Text as a reader sees it: markup in it is shown, control characters and what is no UTF-8 as
  /// `\u{1B}`.
  public init(text: String) {
    bytes = []
    bytes.reserveCapacity(text.utf8.count)
    Self.append(text.shown, to: &bytes)
  }

  /// `text` as somebody wrote it, of whatever direction: what stands around it keeps its own.
  public static func name(_ text: String) -> Markup { element(.bdi) { Markup(text: text) } }

  public static func element(
    _ tag: Tag, _ attributes: Attribute..., @MarkupBuilder content: () -> Markup = { .nothing }
  ) -> Markup {
    element(tag, attributes, content: content)
  }

  public static func element(
    _ tag: Tag, _ attributes: [Attribute], @MarkupBuilder content: () -> Markup = { .nothing }
  ) -> Markup {
    var bytes: [UInt8] = [UInt8(ascii: "<")]
    bytes += tag.rawValue.utf8
    for attribute in attributes {
      bytes.append(UInt8(ascii: " "))
      bytes += attribute.name.utf8
      guard let value = attribute.value else { continue }
      bytes += "=\"".utf8
      append(value.shown, to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    }
    if tag.isVoid {
      bytes.append(UInt8(ascii: ">"))
      return Markup(bytes: bytes)
    }
    bytes.append(UInt8(ascii: ">"))
    bytes += content().bytes
    bytes += "</".utf8
    bytes += tag.rawValue.utf8
    bytes.append(UInt8(ascii: ">"))
    return Markup(bytes: bytes)
  }

  public static func + (a: Markup, b: Markup) -> Markup { Markup(bytes: a.bytes + b.bytes) }

  public mutating func append(_ other: Markup) { bytes += other.bytes }

  /// The five characters that mean something in text or in a quoted attribute.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      default: bytes.append(byte)
      }
    }
  }

  /// A whole document around `head` and `body`. Style and script are the program's own, named by their
  /// digests in the policy; nothing else runs.
  static func document(head: Markup, style: PageStyle, script: PageScript?, body: Markup) -> [UInt8]
  {
    var bytes = Array("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">".utf8)
    bytes +=
      element(
        .meta, .httpEquiv("Content-Security-Policy"),
        .content(PagePolicy.text(style: style, script: script))
      ).bytes
    bytes +=
      element(
        .meta, .metaName("viewport"), .content("width=device-width, initial-scale=1")
      ).bytes
    bytes += head.bytes
    bytes += "<style>\(style.text)</style></head><body>".utf8
    bytes += body.bytes
    if let script { bytes += "<script>\(script.text)</script>".utf8 }
    bytes += "</body></html>\n".utf8
    return bytes
  }
}

/// Elements that pages are made of.
public enum Tag: String, Sendable {
  case a, abbr, article, aside, bdi, body, br, button, caption, code, dd, details, div, dl, dt, em
  case fieldset, figcaption, figure, footer, h1, h2, h3, h4, header, hr, img, input, kbd, label
  case legend, li, link, main, meta, nav, ol, option, output, p, pre, progress, section, select,
    small
  case span, strong, summary, table, tbody, td, template, tfoot, th, thead, time, title, tr, ul, wbr
  // Drawings.
  case circle, clipPath, defs, desc, g, line, path, pattern, polygon, polyline, rect, svg, text,
    tspan
  case use

  var isVoid: Bool {
    switch self {
    case .br, .hr, .img, .input, .link, .meta, .wbr: true
    default: false
    }
  }
}

/// An attribute of an element. Names are the program's own; values are escaped where they are written.
public struct Attribute: Sendable, Hashable {
  let name: String
  /// `nil`: it is there or not.
  let value: String?

  /// - Parameter name: a name of the program's own; never `on…` or `style`, which the policy of pages
  ///   forbids. For addresses there is `link` and `picture`.
  public init(_ name: StaticString, _ value: String) {
    self.name = "\(name)"
    self.value = value
  }

  public init(_ name: StaticString, _ value: Int) { self.init(name, "\(value)") }

  /// One that is there or not.
  public init(flag name: StaticString) {
    self.name = "\(name)"
    value = nil
  }

  public static func id(_ text: String) -> Attribute { Attribute("id", text) }
  public static func classes(_ text: StaticString) -> Attribute { Attribute("class", "\(text)") }
  public static func httpEquiv(_ text: StaticString) -> Attribute {
    Attribute("http-equiv", "\(text)")
  }
  public static func content(_ text: String) -> Attribute { Attribute("content", text) }
  public static func metaName(_ text: StaticString) -> Attribute { Attribute("name", "\(text)") }
  public static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
  public static func link(_ address: PageAddress) -> Attribute { Attribute("href", address.text) }
  public static func picture(_ data: PictureData) -> Attribute { Attribute("src", data.text) }
}

/// Where a link leads: a place on the page or a file beside it, never anything with a scheme.
public struct PageAddress: Sendable, Hashable {
  let text: String

  public static func fragment(_ id: String) -> PageAddress {
    PageAddress(text: "#" + encoded(Array(id.utf8)))
  }

  /// - Parameter components: names of folders and of a file, relative to the page, with the bytes that
  ///   they have on disk; `..` leads up.
  public static func file(_ components: [String]) -> PageAddress {
    // "./" in front: a first name with a colon is no scheme.
    PageAddress(
      text: "./" + components.map { encoded(PathText.bytes(of: $0)) }.joined(separator: "/"))
  }

  private static func encoded(_ bytes: [UInt8]) -> String {
    var text = ""
    for byte in bytes {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        || (0x61...0x7a).contains(byte) || "-._~".utf8.contains(byte)
      if isPlain {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let hex = String(byte, radix: 16, uppercase: true)
        text += "%" + (hex.count < 2 ? "0" : "") + hex
      }
    }
    return text
  }
}

/// A picture inside of the page.
public struct PictureData: Sendable, Hashable {
  public enum Kind: String, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case svg = "image/svg+xml"
  }

  let text: String

  public init(_ kind: Kind, _ bytes: [UInt8]) {
    text = "data:\(kind.rawValue);base64," + Base64Text.of(bytes)
  }
}
