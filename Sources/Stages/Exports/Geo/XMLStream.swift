import CXML2

/// Writes one XML 1.0 document incrementally, in UTF-8, with libxml2's text writer, which escapes.
///
/// Characters that XML 1.0 does not allow become U+FFFD: otherwise a title with a control character
/// would make the file unreadable.
struct XMLStream: ~Copyable {
  private let buffer: xmlBufferPtr
  private let writer: xmlTextWriterPtr
  private var hasFailed = false

  /// Out of memory, or an invalid name; nothing else can fail.
  struct Failure: Error, CustomStringConvertible {
    var description: String { "libxml2 cannot write the document: no memory is left" }
  }

  /// Initializes libxml2's table of encodings. libxml2 (2.9.14) creates it at first use without a
  /// lock: in 207 of 20,000 tries, one of four threads that began documents at the same time in a
  /// new process was ended by SIGSEGV. With this initialization, in none of 20,000.
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

  /// Begins an element with `attributes` in this order.
  mutating func begin(_ name: String, _ attributes: [(String, String)] = []) {
    check(xmlTextWriterStartElement(writer, name))
    for (key, value) in attributes {
      check(xmlTextWriterWriteAttribute(writer, key, Self.allowed(value)))
    }
  }

  /// Closes the innermost element.
  mutating func end() { check(xmlTextWriterEndElement(writer)) }

  /// Appends text to the current element.
  mutating func text(_ text: String) {
    check(xmlTextWriterWriteString(writer, Self.allowed(text)))
  }

  /// Writes an element that contains only text; writes nothing for `nil`.
  mutating func element(_ name: String, _ content: String?) {
    guard let content else { return }
    begin(name)
    text(content)
    end()
  }

  /// Passes the bytes since the last call to `body`.
  ///
  /// - Parameter least: more bytes than these, or nothing is passed.
  mutating func drain(from least: Int = 0, _ body: ([UInt8]) throws -> Void) throws {
    if xmlBufferLength(buffer) <= least, least > 0 { return }
    check(xmlTextWriterFlush(writer))
    if hasFailed { throw Failure() }
    let count = Int(xmlBufferLength(buffer))
    guard count > 0, let bytes = xmlBufferContent(buffer) else { return }
    try body(Array(UnsafeBufferPointer(start: bytes, count: count)))
    xmlBufferEmpty(buffer)
  }

  /// Closes all elements; the rest must still be drained.
  mutating func finish() { check(xmlTextWriterEndDocument(writer)) }

  private mutating func check(_ result: Int32) {
    if result < 0 { hasFailed = true }
  }

  /// Replaces what is not a `Char` of XML 1.0, section 2.2.
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
