import FoundationEssentials

/// Writes one JSON document incrementally: for documents that grow with a capture, and for numbers
/// that must keep all their decimals. `JSONEncoder` offers neither.
///
/// Strings are escaped by `JSONEncoder`; this type adds commas, brackets and indentation. An object
/// or array opened with `lines: true` has one member per line. Calls follow the order of the
/// document; each member of an object begins with `key`.
public struct JSONStream: Sendable {
  private struct Level {
    var close: UInt8
    var lines: Bool
    var isEmpty = true
  }

  private var bytes: [UInt8] = []
  private var levels: [Level] = []
  private var followsKey = false

  public init() {}

  private static func encoded(_ text: String) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    // Encoding a string cannot fail.
    return (try? encoder.encode(text)).map { Array($0) } ?? Array("\"\"".utf8)
  }

  /// Number of bytes written and not yet drained.
  public var pendingByteCount: Int { bytes.count }

  /// Passes the bytes written since the last call to `body`.
  public mutating func drain<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result {
    defer { bytes.removeAll(keepingCapacity: true) }
    return try body(bytes)
  }

  public mutating func beginObject(lines: Bool = false) {
    begin(UInt8(ascii: "{"), close: UInt8(ascii: "}"), lines)
  }

  public mutating func beginArray(lines: Bool = false) {
    begin(UInt8(ascii: "["), close: UInt8(ascii: "]"), lines)
  }

  /// Closes the innermost object or array.
  public mutating func end() {
    guard let level = levels.popLast() else { return }
    if level.lines, !level.isEmpty { newLine() }
    bytes.append(level.close)
  }

  /// Writes the name of the next member.
  public mutating func key(_ name: String) {
    separate()
    bytes += Self.encoded(name)
    bytes += Array(": ".utf8)
    followsKey = true
  }

  public mutating func value(_ value: some JSONStreamable) { value.writeJSON(to: &self) }
  public mutating func null() { raw("null") }

  /// Writes a member whose value is not an object; `null` for `nil`.
  public mutating func member(_ name: String, _ value: (some JSONStreamable)?) {
    key(name)
    if let value { self.value(value) } else { null() }
  }

  /// Writes digits unchanged: decimal seconds of `Timestamp`.
  public mutating func value(decimal text: String) { raw(text) }

  /// Writes an array of rows of `columns` numbers each.
  public mutating func value(_ numbers: [Double], rowsOf columns: Int) {
    beginArray()
    for start in stride(from: 0, to: numbers.count, by: columns) {
      value(Array(numbers[start..<min(start + columns, numbers.count)]))
    }
    end()
  }

  /// Writes a line end after a whole document.
  public mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  fileprivate mutating func raw(_ text: String) {
    separate()
    bytes += Array(text.utf8)
  }

  fileprivate mutating func string(_ text: String) {
    separate()
    bytes += Self.encoded(text)
  }

  private mutating func begin(_ open: UInt8, close: UInt8, _ lines: Bool) {
    separate()
    bytes.append(open)
    levels.append(Level(close: close, lines: lines))
  }

  /// Writes what separates this value from the previous one.
  private mutating func separate() {
    if followsKey {
      followsKey = false
      return
    }
    guard let last = levels.indices.last else { return }
    if !levels[last].isEmpty {
      bytes.append(UInt8(ascii: ","))
      if !levels[last].lines { bytes.append(UInt8(ascii: " ")) }
    }
    levels[last].isEmpty = false
    if levels[last].lines { newLine() }
  }

  private mutating func newLine() {
    bytes.append(UInt8(ascii: "\n"))
    bytes += [UInt8](repeating: UInt8(ascii: " "), count: 2 * levels.count)
  }
}

/// A value that `JSONStream` writes.
public protocol JSONStreamable {
  func writeJSON(to json: inout JSONStream)
}

extension String: JSONStreamable {
  public func writeJSON(to json: inout JSONStream) { json.string(self) }
}

extension Int: JSONStreamable {
  public func writeJSON(to json: inout JSONStream) { json.raw(String(self)) }
}

extension Int64: JSONStreamable {
  public func writeJSON(to json: inout JSONStream) { json.raw(String(self)) }
}

extension Bool: JSONStreamable {
  public func writeJSON(to json: inout JSONStream) { json.raw(self ? "true" : "false") }
}

extension Double: JSONStreamable {
  /// The shortest text that reads back to the same double; `null` for values that are not finite.
  public func writeJSON(to json: inout JSONStream) {
    if isFinite { json.raw(description) } else { json.null() }
  }
}

extension [Double]: JSONStreamable {
  /// An array on one line.
  public func writeJSON(to json: inout JSONStream) {
    json.beginArray()
    for number in self { json.value(number) }
    json.end()
  }
}
