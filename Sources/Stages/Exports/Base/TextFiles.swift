import Core
import Engine
import Yams

/// Writes one XML 1.0 document incrementally, in UTF-8, with libxml2's text writer, which escapes.
///
/// Characters that XML 1.0 does not allow become U+FFFD: otherwise a title with a control character
/// would make the file unreadable.
struct XMLStream: ~Copyable {
  private let library: XMLLibrary
  private let buffer: XMLLibrary.Buffer
  private let writer: XMLLibrary.Writer
  private var hasFailed = false

  /// Out of memory, or an invalid name; nothing else can fail.
  private static let failure = StageFailure(
    "libxml2 cannot write the document: no memory is left")

  init() throws(StageFailure) {
    let library = try XMLLibrary.loaded.get()
    guard let buffer = library.createBuffer() else { throw Self.failure }
    guard let writer = library.createWriter(buffer, 0) else {
      library.freeBuffer(buffer)
      throw Self.failure
    }
    (self.library, self.buffer, self.writer) = (library, buffer, writer)
    check(library.setIndent(writer, 1))
    check(library.setIndentText(writer, "  "))
    check(library.startDocument(writer, "1.0", "UTF-8", nil))
  }

  deinit {
    library.freeWriter(writer)
    library.freeBuffer(buffer)
  }

  /// Begins an element with `attributes` in this order.
  mutating func begin(_ name: String, _ attributes: [(String, String)] = []) {
    check(library.startElement(writer, name))
    for (key, value) in attributes {
      check(library.writeAttribute(writer, key, Self.allowed(value)))
    }
  }

  /// Closes the innermost element.
  mutating func end() { check(library.endElement(writer)) }

  /// Appends text to the current element.
  mutating func text(_ text: String) { check(library.writeText(writer, Self.allowed(text))) }

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
    if library.count(buffer) <= least, least > 0 { return }
    check(library.flush(writer))
    if hasFailed { throw Self.failure }
    let count = Int(library.count(buffer))
    guard count > 0, let bytes = library.content(buffer) else { return }
    try body(Array(UnsafeBufferPointer(start: bytes, count: count)))
    library.emptyBuffer(buffer)
  }

  /// Closes all elements; the rest must still be drained.
  mutating func finish() { check(library.endDocument(writer)) }

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

/// Writes small YAML documents for other tools with libyaml: mappings in the given order, one key
/// per line.
enum YAMLText {
  typealias Pairs = [(String, Node)]

  static func document(_ pairs: Pairs) throws -> String {
    // Lists of numbers stay on one line, whatever their length.
    try Yams.serialize(node: .members(pairs), width: -1, allowUnicode: true)
  }
}

/// The values of `YAMLText`.
extension Node {
  static func text(_ text: String) -> Node { Node(text, Tag(.str)) }

  static func quoted(_ text: String) -> Node { .scalar(.init(text, .implicit, .singleQuoted)) }

  static func flag(_ flag: Bool) -> Node { Node(flag ? "true" : "false") }

  static func integer(_ number: some BinaryInteger) -> Node { Node(String(number)) }

  /// The shortest text that reads back to the same double, always with a decimal point: some
  /// readers take a list's type from its first element.
  static func number(_ number: Double) -> Node { Node(decimal(number)) }

  /// On one line.
  static func numbers(_ numbers: [Double]) -> Node {
    Node(numbers.map(Node.number), .implicit, .flow)
  }

  /// On one line.
  static func integers(_ numbers: [Int]) -> Node {
    Node(numbers.map { .integer($0) }, .implicit, .flow)
  }

  /// Names and values, in this order.
  static func members(_ pairs: YAMLText.Pairs) -> Node {
    Node(pairs.map { (Node($0), $1) }, .implicit, .block)
  }

  static func list(_ values: [Node]) -> Node { Node(values, .implicit, .block) }

  /// Never `-0.0`; `1e-05` as `1.0e-05`, which YAML 1.1 readers also parse as a number.
  private static func decimal(_ number: Double) -> String {
    if number == 0 { return "0.0" }
    let text = number.description
    guard let exponent = text.firstIndex(of: "e"), !text.contains(".") else { return text }
    return text[..<exponent] + ".0" + text[exponent...]
  }
}

/// A text file of an artifact, written line by line in pieces of 64 KiB.
struct LineFile: ~Copyable {
  private var bytes: [UInt8] = []
  private let file: StagedFile

  init(_ name: String, _ staging: StagingFolder) throws {
    file = try staging.create(name)
  }

  /// Appends `text` and a line feed.
  mutating func line(_ text: String) throws {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count > 1 << 16 { try flush() }
  }

  /// Writes the rest; without this call the file does not become part of the artifact.
  mutating func finish() throws {
    try flush()
    try file.finish()
  }

  private mutating func flush() throws {
    try file.append(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}
