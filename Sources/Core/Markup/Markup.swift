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
    var bytes = Array("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">".utf8)
    bytes +=
      Tag.meta(
        .metaName("viewport"), .content("width=device-width, initial-scale=1")
      ).bytes
    bytes += head.bytes
    bytes += "</head><body>".utf8
    bytes += body.bytes
    bytes += "</body></html>\n".utf8
    return bytes
  }

  /// A whole document with `head` and `body`. Style and script are constants of the program,
  /// identified by digests in the policy, which permits no others.
  package static func document(head: Markup, style: PageStyle, script: PageScript?, body: Markup)
    -> [UInt8]
  {
    var bytes = Array("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">".utf8)
    bytes +=
      Tag.meta(
        .httpEquiv("Content-Security-Policy"),
        .content(PagePolicy.text(style: style, script: script))
      ).bytes
    bytes +=
      Tag.meta(
        .metaName("viewport"), .content("width=device-width, initial-scale=1")
      ).bytes
    bytes += Tag.meta(.metaName("generator"), .content(generator)).bytes
    bytes += head.bytes
    bytes += "<style>\(style.text)</style></head><body>".utf8
    bytes += body.bytes
    if let script { bytes += "<script>\(script.text)</script>".utf8 }
    bytes += "</body></html>\n".utf8
    return bytes
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

/// The content security policy: only the page's own style, script and embedded pictures.
package enum PagePolicy {
  package static func text(style: PageStyle, script: PageScript?) -> String {
    var parts = ["default-src 'none'", "img-src data:", "style-src '\(digest(style.text))'"]
    parts.append(script.map { "script-src '\(digest($0.text))'" } ?? "script-src 'none'")
    parts += ["base-uri 'none'", "form-action 'none'"]
    return parts.joined(separator: "; ")
  }

  private static func digest(_ text: String) -> String {
    "sha256-" + Base64Text.of(Digest(of: text).bytes)
  }
}

enum Base64Text {
  static func of(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
