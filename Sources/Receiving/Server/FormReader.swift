import Core

/// Reads `multipart/form-data` piece by piece, in constant memory. The first error ends it.
struct FormReader {
  enum Event: Equatable {
    /// A part begins.
    case part(name: String, fileName: String?)
    case data([UInt8])
    case end
  }

  private enum State {
    case preamble, delimiter, headers, data, done
  }

  private let delimiter: [UInt8]
  private var state = State.preamble
  private var buffer: [UInt8]
  private static let mostHeaderBytes = 16 << 10

  /// - Parameter contentType: the field of the request with the boundary.
  init(contentType: String) throws(UploadRefusal) {
    var boundary: Substring?
    for part in contentType.split(separator: ";").dropFirst() {
      let text = part.drop { $0 == " " || $0 == "\t" }
      if text.lowercased().hasPrefix("boundary=") { boundary = text.dropFirst("boundary=".count) }
    }
    var value = boundary ?? ""
    if value.first == "\"", value.last == "\"", value.utf8.count >= 2 {
      value = value.dropFirst().dropLast()
    }
    while value.last == " " { value = value.dropLast() }
    guard (1...70).contains(value.utf8.count) else {
      throw UploadRefusal(.invalid, "the form has no boundary")
    }
    delimiter = Array("\r\n--\(value)".utf8)
    // The first delimiter may stand at the very beginning.
    buffer = Array("\r\n".utf8)
  }

  /// Whether the closing delimiter has come.
  var isDone: Bool { state == .done }

  /// What the next bytes are.
  mutating func read(_ bytes: some Collection<UInt8>) throws(UploadRefusal) -> [Event] {
    // What comes after the end is ignored.
    guard state != .done else { return [] }
    buffer.append(contentsOf: bytes)
    var events: [Event] = []
    var start = 0
    while try step(&start, &events) {}
    buffer.removeFirst(start)
    return events
  }

  /// Returns whether it went on; `false` if more bytes are needed.
  private mutating func step(_ start: inout Int, _ events: inout [Event]) throws(UploadRefusal)
    -> Bool
  {
    switch state {
    case .preamble, .data:
      if let found = find(delimiter, from: start) {
        if state == .data {
          if found > start { events.append(.data(Array(buffer[start..<found]))) }
          events.append(.end)
        }
        start = found + delimiter.count
        state = .delimiter
        return true
      }
      let keep = max(start, buffer.count - delimiter.count + 1)
      if keep > start {
        if state == .data { events.append(.data(Array(buffer[start..<keep]))) }
        start = keep
      }
      return false
    case .delimiter:
      guard buffer.count - start >= 2 else { return false }
      if buffer[start] == UInt8(ascii: "-"), buffer[start + 1] == UInt8(ascii: "-") {
        state = .done
        start = buffer.count
        return false
      }
      guard buffer[start] == 13, buffer[start + 1] == 10 else {
        throw UploadRefusal(.invalid, "a boundary of the form has something behind it")
      }
      // The line end stays: without any header, it is half of the empty line.
      state = .headers
      return true
    case .headers:
      guard let found = find([13, 10, 13, 10], from: start) else {
        guard buffer.count - start <= Self.mostHeaderBytes else {
          throw UploadRefusal(.invalid, "the header of a part is too large")
        }
        return false
      }
      events.append(try Self.part(buffer[start..<found]))
      start = found + 4
      state = .data
      return true
    case .done: return false
    }
  }

  private func find(_ pattern: [UInt8], from start: Int) -> Int? {
    guard let first = pattern.first, buffer.count >= pattern.count else { return nil }
    var index = start
    let last = buffer.count - pattern.count
    while index <= last {
      guard let next = buffer[index...last].firstIndex(of: first) else { return nil }
      if buffer[next..<next + pattern.count].elementsEqual(pattern) { return next }
      index = next + 1
    }
    return nil
  }

  private static func part(_ header: ArraySlice<UInt8>) throws(UploadRefusal) -> Event {
    var part: Event?
    for line in header.split(whereSeparator: { $0 == 13 || $0 == 10 }) {
      guard let text = String(validating: line, as: UTF8.self) else {
        throw UploadRefusal(.invalid, "the header of a part is not UTF-8")
      }
      let field = text.prefix { $0 != ":" }.lowercased()
      if ["content-transfer-encoding", "content-encoding"].contains(field) {
        let coding = text.dropFirst(field.count + 1).filter { $0 != " " && $0 != "\t" }.lowercased()
        // What comes is stored; these names say that it is the file itself.
        guard ["7bit", "8bit", "binary", "identity"].contains(coding) else {
          throw UploadRefusal(.invalid, "a part of the form is coded (\(coding.onOneLine))")
        }
      }
      guard field == "content-disposition", part == nil else { continue }
      guard let name = parameter("name", in: text) else {
        throw UploadRefusal(.invalid, "a part of the form has no name")
      }
      part = .part(name: name, fileName: parameter("filename", in: text))
    }
    guard let part else { throw UploadRefusal(.invalid, "a part of the form has no name") }
    return part
  }

  private static func parameter(_ name: String, in text: String) -> String? {
    for part in text.split(separator: ";").dropFirst() {
      let pair = part.drop { $0 == " " || $0 == "\t" }
      guard let mark = pair.firstIndex(of: "="), pair[..<mark].lowercased() == name else {
        continue
      }
      var value = pair[pair.index(after: mark)...]
      while value.last == " " { value = value.dropLast() }
      if value.first == "\"", value.last == "\"", value.utf8.count >= 2 {
        value = value.dropFirst().dropLast()
      }
      return String(value)
    }
    return nil
  }
}
