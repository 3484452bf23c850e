import FoundationEssentials

/// A piece of a page: well-formed markup made from elements and text. No string is taken as markup;
/// text is escaped only here.
public struct Markup: Sendable, Hashable {
  /// UTF-8.
  public private(set) var bytes: [UInt8]
}

extension Markup {
  public static let nothing = Markup(bytes: [])

  /// Text as displayed: markup characters are escaped, control characters and invalid UTF-8 appear
  /// as `\u{1B}`.
  public init(text: String) {
    bytes = []
    bytes.reserveCapacity(text.utf8.count)
    Self.append(text.shown, to: &bytes)
  }

  /// A text from others with any writing direction, isolated from the text around it. Line ends and
  /// tabs are escaped as well.
  public static func name(_ text: String) -> Markup {
    Tag.bdi { Markup(text: text.onOneLine) }
  }

  public static func + (a: Markup, b: Markup) -> Markup { Markup(bytes: a.bytes + b.bytes) }

  public mutating func append(_ other: Markup) { bytes += other.bytes }

  /// Escapes the four characters with a meaning in text or in double-quoted values, and code points
  /// that are not characters, which documents must not contain.
  fileprivate static func append(_ text: String, to bytes: inout [UInt8]) {
    for byte in withoutNoncharacters(text).utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      default: bytes.append(byte)
      }
    }
  }

  private static func withoutNoncharacters(_ text: String) -> String {
    func isNone(_ value: UInt32) -> Bool {
      (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
    }
    // Their UTF-8 begins with 0xEF or more.
    guard text.utf8.contains(where: { $0 >= 0xEF }),
      text.unicodeScalars.contains(where: { isNone($0.value) })
    else { return text }
    return text.unicodeScalars.reduce(into: "") { shown, scalar in
      if isNone(scalar.value) {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
  }

  /// Identifies pages of this program: `content` of `meta[name=generator]`.
  package static let generator = "scanmill pages 1"

  /// A whole document whose style is a file beside it: for pages that a server sends, with the policy
  /// in its headers.
  package static func servedDocument(head: Markup, body: Markup) -> [UInt8] {
    beginning + viewport.bytes + head.bytes + "</head><body>".utf8 + body.bytes + ending
  }

  private static let beginning = Array(
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">".utf8)
  private static let viewport = Tag.meta(
    .metaName("viewport"), .content("width=device-width, initial-scale=1"))
  private static let ending = Array("</body></html>\n".utf8)

  /// A whole document with `head` and `body`. Style and script are constants of the program,
  /// identified by digests in the policy, which permits no others.
  package static func document(head: Markup, style: PageStyle, script: PageScript?, body: Markup)
    -> [UInt8]
  {
    var bytes = beginning
    bytes +=
      Tag.meta(
        .httpEquiv("Content-Security-Policy"), .content(policy(style: style, script: script))
      ).bytes
    bytes += viewport.bytes
    bytes += Tag.meta(.metaName("generator"), .content(generator)).bytes
    bytes += head.bytes
    bytes += "<style>\(style.text)</style></head><body>".utf8
    bytes += body.bytes
    if let script { bytes += "<script>\(script.text)</script>".utf8 }
    return bytes + ending
  }

  /// The content security policy: only the page's own style, script and embedded pictures.
  package static func policy(style: PageStyle, script: PageScript?) -> String {
    func digest(_ text: String) -> String { "sha256-" + Digest(of: text).bytes.base64 }
    var parts = ["default-src 'none'", "img-src data:", "style-src '\(digest(style.text))'"]
    parts.append(script.map { "script-src '\(digest($0.text))'" } ?? "script-src 'none'")
    parts += ["base-uri 'none'", "form-action 'none'"]
    return parts.joined(separator: "; ")
  }

  // Where a narrow page breaks what has no blanks.

  /// A path as `name`, broken after slashes before it is broken inside of a name.
  public static func path(_ text: String) -> Markup {
    Tag.bdi { breakable(text.onOneLine) }
  }

  /// A command line, broken between words and after slashes, and not after the hyphens of an option.
  public static func command(_ text: String) -> Markup {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    var all = Markup.nothing
    for (number, word) in words.enumerated() {
      if number > 0 { all.append(Markup(text: " ")) }
      let isOption = word.hasPrefix("-") && word.utf8.count <= mostOfOption
      all.append(
        isOption
          ? Tag.span(.classes("option")) { Markup(text: word) } : breakable(word))
    }
    return all
  }

  /// The most characters of an option that fit on one line of a phone.
  private static let mostOfOption = 30

  private static func breakable(_ text: String) -> Markup {
    var all = Markup.nothing
    var piece = ""
    var wasSlash = false
    for character in text {
      if wasSlash, character != "/" {
        all.append(Markup(text: piece) + Tag.wbr())
        piece = ""
      }
      piece.append(character)
      wasSlash = character == "/"
    }
    return all + Markup(text: piece)
  }
}

/// Builds a page from a list of elements; strings in it are text.
@resultBuilder
public enum MarkupBuilder {
  public static func buildExpression(_ text: String) -> Markup { Markup(text: text) }
  public static func buildExpression(_ markup: Markup) -> Markup { markup }
  public static func buildExpression(_ markup: Markup?) -> Markup { markup ?? .nothing }
  static func buildExpression(_ list: [Markup]) -> Markup { buildArray(list) }
  public static func buildBlock(_ parts: Markup...) -> Markup { buildArray(parts) }
  public static func buildOptional(_ part: Markup?) -> Markup { part ?? .nothing }
  public static func buildEither(first: Markup) -> Markup { first }
  public static func buildEither(second: Markup) -> Markup { second }

  public static func buildArray(_ parts: [Markup]) -> Markup {
    var all = Markup.nothing
    for part in parts { all.append(part) }
    return all
  }
}

/// The elements used in pages.
public enum Tag: String, Sendable {
  case a, abbr, article, aside, bdi, body, br, button, caption, code, col, colgroup, dd, details,
    div, dl, dt, em
  case figcaption, figure, footer, form, h1, h2, h3, h4, header, hr, img, input, kbd, label
  case legend, li, link, main, meta, nav, ol, option, output, p, pre, progress, section, select,
    small
  case span, strong, summary, table, tbody, td, template, tfoot, th, thead, time, title, tr, ul, wbr
  // Drawings.
  case circle, clipPath, defs, desc, g, line, path, pattern, polygon, polyline, rect, svg, symbol,
    text, tspan, use

  private var isVoid: Bool {
    switch self {
    case .br, .col, .hr, .img, .input, .link, .meta, .wbr: true
    default: false
    }
  }

  /// The element: `Tag.p(.classes("notice")) { "Text" }`.
  public func callAsFunction(
    _ attributes: Attribute..., @MarkupBuilder content: () -> Markup = { .nothing }
  ) -> Markup {
    self(attributes, content: content)
  }

  public func callAsFunction(
    _ attributes: [Attribute], @MarkupBuilder content: () -> Markup = { .nothing }
  ) -> Markup {
    var bytes = Array("<\(rawValue)".utf8)
    for attribute in attributes where !attribute.name.isEmpty {
      bytes.append(UInt8(ascii: " "))
      bytes += attribute.name.utf8
      guard let value = attribute.value else { continue }
      bytes += "=\"".utf8
      Markup.append(value.shown, to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: ">"))
    if !isVoid {
      bytes += content().bytes
      bytes += "</\(rawValue)>".utf8
    }
    return Markup(bytes: bytes)
  }
}

/// A style sheet of the program. There is one per kind of page, identified by its digest in the
/// policy.
package struct PageStyle: Sendable {
  package let text: String

  package init(text: String) { self.text = text }
}

/// A script of the program.
package struct PageScript: Sendable {
  package let text: String

  package init(text: String) { self.text = text }
}

extension [UInt8] {
  fileprivate var base64: String { Data(self).base64EncodedString() }
}

/// An attribute of an element. Names are constants of the program; values are escaped when written.
public struct Attribute: Sendable, Hashable {
  /// Empty for an attribute that may not have a text value; it is then not written.
  let name: String
  /// `nil` for an attribute without value.
  let value: String?
}

extension Attribute {
  /// - Parameter name: a constant of the program. Attributes that load, link, run or style (`href`,
  ///   `src`, `on…`, `style`, …) are never written with a text. Addresses are set by `link`,
  ///   `picture`, `icon` and `shape`, which do not take text.
  public init(_ name: StaticString, _ value: String) {
    let name = "\(name)"
    self.init(name: Self.isHarmless(name) ? name : "", value: value)
  }

  public init(_ name: StaticString, _ value: Int) { self.init(name, "\(value)") }

  /// An attribute without value.
  public init(flag name: StaticString) {
    let name = "\(name)"
    self.init(name: Self.isHarmless(name) ? name : "", value: nil)
  }

  public static func id(_ text: String) -> Attribute { Attribute("id", text) }
  public static func classes(_ text: StaticString) -> Attribute { Attribute("class", "\(text)") }
  public static func httpEquiv(_ text: StaticString) -> Attribute {
    Attribute(name: "http-equiv", value: "\(text)")
  }
  public static func content(_ text: String) -> Attribute { Attribute("content", text) }
  static func metaName(_ text: StaticString) -> Attribute { Attribute("name", "\(text)") }
  /// The label of a picture, plot or control without text of its own.
  public static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
  public static func link(_ address: PageAddress) -> Attribute {
    Attribute(name: "href", value: address.text)
  }
  public static func picture(_ data: PictureData) -> Attribute {
    Attribute(name: "src", value: data.text)
  }
  /// The address of a `link` element with the icon of the browser tab.
  public static func icon(_ data: PictureData) -> Attribute {
    Attribute(name: "href", value: data.text)
  }
  /// The shape that a `use` element draws, by its id on the same page.
  static func shape(_ id: StaticString) -> Attribute {
    Attribute(name: "href", value: PageAddress.fragment("\(id)").text)
  }

  private static let guarded: Set<String> = [
    "href", "src", "srcset", "srcdoc", "style", "action", "formaction", "poster", "background",
    "ping",
    "data", "cite", "manifest", "http-equiv",
  ]

  private static func isHarmless(_ name: String) -> Bool {
    let name = name.lowercased()
    return !name.isEmpty && !name.hasPrefix("on") && !guarded.contains(name)
      && !name.hasSuffix(":href")
      && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D }
  }
}

/// The target of a link: an element of the page or a file next to it, never anything with a scheme.
public struct PageAddress: Sendable, Hashable {
  let text: String

  static func fragment(_ id: String) -> PageAddress {
    PageAddress(text: "#" + encoded(Array(id.utf8)))
  }

  /// - Parameter components: names of folders and of a file, relative to the page, with the bytes
  ///   that they have on disk; `..` is the parent folder.
  public static func file(_ components: [String]) -> PageAddress {
    // With "./" in front, a colon in the first name is not taken for a scheme.
    PageAddress(
      text: "./" + components.map { encoded(PathText.bytes(of: $0)) }.joined(separator: "/"))
  }

  /// A file in or below the page's folder, by its path with `/`; `nil` for other paths: empty or
  /// absolute ones, and those with `.`, `..` or an empty component.
  public static func below(_ path: String) -> PageAddress? {
    let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else { return nil }
    return file(names)
  }

  /// The bytes in which an address may have any: letters, digits and `-._~` as they are, others as `%2F`.
  public static func encoded(_ bytes: [UInt8]) -> String {
    var text = ""
    for byte in bytes {
      if byte.isLetterOrDigit || "-._~".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += PathText.percent(byte)
      }
    }
    return text
  }
}

/// A picture embedded in the page.
public struct PictureData: Sendable, Hashable {
  public enum Kind: String, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case svg = "image/svg+xml"
  }

  let text: String

  public init(_ kind: Kind, _ bytes: [UInt8]) {
    text = "data:\(kind.rawValue);base64," + bytes.base64
  }
}
