extension MultiScanMetadata {
  /// The ranges of the top-level objects in a text: files that were appended to contain several
  /// JSON documents. Text between them is skipped; an object without end is left out. Whether an
  /// object is valid JSON is left to the decoder.
  ///
  /// An object that was cut and then appended to would include the next one. So if the text ends
  /// inside an object, its last line that starts with a brace is tried by itself.
  ///
  /// Cost: one pass over the bytes, two at most.
  static func jsonObjects(in bytes: RawSpan) -> [Range<Int>] {
    let (objects, openFrom) = closedObjects(in: bytes, from: 0)
    guard let openFrom, let line = lastLineWithBrace(in: bytes, after: openFrom) else {
      return objects
    }
    return objects + closedObjects(in: bytes, from: line).objects
  }

  /// The ranges of closed objects, and the start of one that is not closed.
  private static func closedObjects(
    in bytes: RawSpan, from first: Int
  ) -> (objects: [Range<Int>], openFrom: Int?) {
    var objects: [Range<Int>] = []
    var start = 0
    var depth = 0
    var isInString = false
    var isEscaped = false
    for offset in first..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\"") where depth > 0: isInString = true
      case UInt8(ascii: "{"):
        if depth == 0 { start = offset }
        depth += 1
      case UInt8(ascii: "}") where depth > 0:
        depth -= 1
        if depth == 0 { objects.append(start..<offset + 1) }
      default: break
      }
    }
    return (objects, depth > 0 ? start : nil)
  }

  private static func lastLineWithBrace(in bytes: RawSpan, after start: Int) -> Int? {
    var offset = bytes.byteCount - 1
    while offset > start {
      if bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: "{"),
        bytes.unsafeLoad(fromByteOffset: offset - 1, as: UInt8.self) == UInt8(ascii: "\n")
      {
        return offset
      }
      offset -= 1
    }
    return nil
  }
}
