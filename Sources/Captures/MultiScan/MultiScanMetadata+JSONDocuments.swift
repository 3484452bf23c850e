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
    bytes.withUnsafeBytes { bytes in
      let (objects, openFrom) = closedObjects(in: bytes, from: 0)
      guard let openFrom, let line = lastLineWithBrace(in: bytes, after: openFrom) else {
        return objects
      }
      return objects + closedObjects(in: bytes, from: line).objects
    }
  }

  /// The ranges of closed objects, and the start of one that is not closed.
  private static func closedObjects(
    in bytes: UnsafeRawBufferPointer, from first: Int
  ) -> (objects: [Range<Int>], openFrom: Int?) {
    var objects: [Range<Int>] = []
    var offset = first
    while let start = bytes[offset...].firstIndex(of: UInt8(ascii: "{")) {
      guard let end = end(ofObjectAt: start, in: bytes) else { return (objects, start) }
      objects.append(start..<end)
      offset = end
    }
    return (objects, nil)
  }

  /// Only braces are counted: a list that is not closed does not hide the end of its object.
  private static func end(ofObjectAt start: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
    var depth = 0
    for token in JSONTokens(bytes, from: start) {
      switch (token.kind, bytes[token.range.lowerBound]) {
      case (.open, UInt8(ascii: "{")): depth += 1
      case (.close, UInt8(ascii: "}")):
        depth -= 1
        if depth == 0 { return token.range.upperBound }
      default: break
      }
    }
    return nil
  }

  private static func lastLineWithBrace(in bytes: UnsafeRawBufferPointer, after start: Int) -> Int?
  {
    var offset = bytes.count - 1
    while offset > start {
      if bytes[offset] == UInt8(ascii: "{"), bytes[offset - 1] == UInt8(ascii: "\n") {
        return offset
      }
      offset -= 1
    }
    return nil
  }
}
