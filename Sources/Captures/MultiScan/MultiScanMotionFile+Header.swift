import Core

extension MultiScanMotionFile.Header {
  /// Size limit of headers in bytes; the apps write about 200.
  private static let limit = 65_536

  /// Whether the bytes begin like a header.
  static func begins(_ bytes: RawSpan) -> Bool {
    guard let (line, _) = line(of: bytes, at: 0) else { return false }
    return line == "ply"
  }

  /// `nil` when the bytes do not begin with a header or it has no end.
  init?(_ bytes: RawSpan) {
    let bytes = bytes.extracting(0..<min(bytes.byteCount, Self.limit))
    guard let (first, afterFirst) = Self.line(of: bytes, at: 0), first == "ply" else { return nil }
    self.init(encoding: .littleEndian, declaredRecords: nil, dataStart: 0)
    var offset = afterFirst
    while let (line, next) = Self.line(of: bytes, at: offset) {
      let words = line.split(separator: " ")
      switch words.first {
      case "end_header":
        dataStart = next
        return
      case "format" where words.count > 1:
        encoding = Self.encoding(named: words[1])
      case "element" where words.count > 2:
        declaredRecords = Int(words[2]).flatMap { $0 >= 0 ? $0 : nil }
      default: break
      }
      offset = next
    }
    return nil
  }

  private static func encoding(named name: Substring) -> MultiScanMotionFile.Encoding {
    switch name {
    case "ascii": .text
    case "binary_big_endian": .bigEndian
    default: .littleEndian
    }
  }

  /// The line at `offset` without its end, and the start of the next one; `nil` without a line end.
  private static func line(of bytes: RawSpan, at offset: Int) -> (text: String, next: Int)? {
    var end = offset
    while end < bytes.byteCount, bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 10 {
      end += 1
    }
    guard end < bytes.byteCount, end - offset <= limit else { return nil }
    var text = bytes.extracting(offset..<end).withUnsafeBytes {
      String(decoding: $0, as: UTF8.self)
    }
    while text.last == "\r" || text.last == " " { text.removeLast() }
    return (text, end + 1)
  }
}
