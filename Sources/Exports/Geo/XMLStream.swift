import CXML2

/// Writes one XML 1.0 document piece by piece, UTF-8, through libxml2's text writer, which escapes.
///
/// Characters that XML 1.0 cannot hold, escaped or not, become U+FFFD: a title with a control character
/// must not make a file that no parser opens.
struct XMLStream: ~Copyable {
  private let buffer: xmlBufferPtr
  private let writer: xmlTextWriterPtr
  private var hasFailed = false

  /// Memory ran out, or a name was none; nothing else can fail.
  struct Failure: Error, CustomStringConvertible {
    var description: String { "libxml2 cannot write the document: no memory is left" }
  }

  /// libxml2 makes its table of encodings when it is first asked for one, without a lock (2.9.14): of four
  /// threads that begin documents at a time in a new process one was ended by SIGSEGV in 207 of 20,000 tries.
  /// Done here once, before: in none of 20,000.
  private static let isPrepared: Bool = {
    xmlInitParser()
    return true
  }()

  init() throws(Failure) {
    guard Self.isPrepared else { throw Failure() }
    guard let buffer = xmlBufferCreate() else { throw Failure() }
    guard let writer = xmlNewTextWriterMemory(buffer, 0) else {
      xmlBufferFree(buffer)
      throw Failure()
    }
    self.buffer = buffer
    self.writer = writer
    check(xmlTextWriterSetIndent(writer, 1))
    check(xmlTextWriterSetIndentString(writer, "  "))
    check(xmlTextWriterStartDocument(writer, "1.0", "UTF-8", nil))
  }

  deinit {
    xmlFreeTextWriter(writer)
    xmlBufferFree(buffer)
  }

  /// `attributes` in this order.
  mutating func begin(_ name: String, _ attributes: [(String, String)] = []) {
    check(xmlTextWriterStartElement(writer, name))
    for (key, value) in attributes {
      check(xmlTextWriterWriteAttribute(writer, key, Self.allowed(value)))
    }
  }

  /// Closes the innermost element.
  mutating func end() { check(xmlTextWriterEndElement(writer)) }

  /// Content of the element at hand.
  mutating func text(_ text: String) {
    check(xmlTextWriterWriteString(writer, Self.allowed(text)))
  }

  /// An element of nothing but text; none for `nil`.
  mutating func element(_ name: String, _ content: String?) {
    guard let content else { return }
    begin(name)
    text(content)
    end()
  }

  /// Bytes that wait to be drained.
  var pendingByteCount: Int { Int(xmlBufferLength(buffer)) }

  /// Hands the bytes since the last call to `body`.
  mutating func drain(_ body: ([UInt8]) throws -> Void) throws {
    check(xmlTextWriterFlush(writer))
    if hasFailed { throw Failure() }
    let count = Int(xmlBufferLength(buffer))
    guard count > 0, let bytes = xmlBufferContent(buffer) else { return }
    try body(Array(UnsafeBufferPointer(start: bytes, count: count)))
    xmlBufferEmpty(buffer)
  }

  /// Closes all elements; the rest is still to be drained.
  mutating func finish() { check(xmlTextWriterEndDocument(writer)) }

  private mutating func check(_ result: Int32) {
    if result < 0 { hasFailed = true }
  }

  /// `Char` of XML 1.0, section 2.2.
  static func allowed(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF:
        scalars.append(scalar)
      default: scalars.append("\u{FFFD}")
      }
    }
    return String(scalars)
  }
}
