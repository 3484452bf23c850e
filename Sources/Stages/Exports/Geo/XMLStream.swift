/// Writes one XML 1.0 document incrementally, in UTF-8, each element on a line of its own.
///
/// Characters that XML 1.0 does not allow become U+FFFD: otherwise a title with a control character
/// would make the file unreadable.
///
/// The text writer of libxml2 would write the same. Every process of the program would load it at its start, and ICU with
/// it.
struct XMLStream {
  private var bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
  /// Names of the open elements.
  private var open: [String] = []
  /// What the innermost element has so far.
  private var content = Content.elements

  private enum Content {
    /// Attributes: its start tag is not closed yet.
    case attributes
    case text
    case elements
  }

  /// Begins an element with `attributes` in this order.
  mutating func begin(_ name: String, _ attributes: [(String, String)] = []) {
    if content == .attributes { bytes += ">\n".utf8 }
    indent()
    bytes += "<\(name)".utf8
    for (key, value) in attributes {
      bytes += " \(key)=\"".utf8
      append(escaped: value)
      bytes += "\"".utf8
    }
    open.append(name)
    content = .attributes
  }

  /// Closes the innermost element.
  mutating func end() {
    guard let name = open.popLast() else { return }
    if content == .elements { indent() }
    bytes += (content == .attributes ? "/>\n" : "</\(name)>\n").utf8
    content = .elements
  }

  /// Appends text to the current element.
  mutating func text(_ text: String) {
    if content == .attributes { bytes += ">".utf8 }
    content = .text
    append(escaped: text)
  }

  /// Writes an element that contains only text; writes nothing for `nil`.
  mutating func element(_ name: String, _ content: String?) {
    guard let content else { return }
    begin(name)
    text(content)
    end()
  }

  /// Number of bytes not yet drained.
  var pendingByteCount: Int { bytes.count }

  /// Passes the bytes since the last call to `body`.
  mutating func drain(_ body: ([UInt8]) throws -> Void) rethrows {
    try body(bytes)
    bytes = []
  }

  /// Closes all elements; the rest must still be drained.
  mutating func finish() {
    while !open.isEmpty { end() }
  }

  private mutating func indent() {
    bytes += repeatElement(UInt8(ascii: " "), count: 2 * open.count)
  }

  /// Replaces what is not a `Char` of XML 1.0, section 2.2.
  private mutating func append(escaped text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": bytes += "&amp;".utf8
      case "<": bytes += "&lt;".utf8
      case ">": bytes += "&gt;".utf8
      case "\"": bytes += "&quot;".utf8
      case "\r": bytes += "&#13;".utf8
      case "\t", "\n", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
        bytes += UTF8.encode(scalar).map(Array.init) ?? []
      default: bytes += "\u{FFFD}".utf8
      }
    }
  }
}
