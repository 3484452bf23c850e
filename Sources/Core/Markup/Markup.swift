/// A piece of a page: well-formed markup made from elements and text. No string is taken as markup;
/// text is escaped only here.
public struct Markup: Sendable, Hashable {
  /// UTF-8.
  public private(set) var bytes: [UInt8]

  public static let nothing = Markup(bytes: [])

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

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
    element(.bdi) { Markup(text: text.onOneLine) }
  }

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
    for attribute in attributes where !attribute.name.isEmpty {
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

  /// Escapes the four characters with a meaning in text or in double-quoted values, and code points
  /// that are not characters, which documents must not contain.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
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
      element(
        .meta, .metaName("viewport"), .content("width=device-width, initial-scale=1")
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
      element(
        .meta, .httpEquiv("Content-Security-Policy"),
        .content(PagePolicy.text(style: style, script: script))
      ).bytes
    bytes +=
      element(
        .meta, .metaName("viewport"), .content("width=device-width, initial-scale=1")
      ).bytes
    bytes += element(.meta, .metaName("generator"), .content(generator)).bytes
    bytes += head.bytes
    bytes += "<style>\(style.text)</style></head><body>".utf8
    bytes += body.bytes
    if let script { bytes += "<script>\(script.text)</script>".utf8 }
    bytes += "</body></html>\n".utf8
    return bytes
  }
}
