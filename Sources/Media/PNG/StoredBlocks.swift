import CDeflate

/// Writes lines as stored blocks of deflate, for data that cannot be compressed.
enum StoredBlocks {
  static let longest = 65_535

  /// Encoded size of `count` bytes, from the second byte of the first block on.
  static func storedBytes(_ count: Int) -> Int { count + 5 * ((count + longest - 1) / longest) }

  /// Writes the rows unpredicted, in stored blocks of at most 65,535 bytes.
  static func write(
    _ lines: inout Scanlines, rows: Range<Int>, isLast: Bool, to sink: inout BitSink,
    checksum: inout UInt32
  ) {
    let lineBytes = lines.lineBytes
    var rest = rows.count * lineBytes
    var leftInBlock = 0
    for y in rows {
      let line = lines.line(y, filter: .none)
      checksum = libdeflate_adler32(checksum, line, lineBytes)
      var offset = 0
      while offset < lineBytes {
        if leftInBlock == 0 {
          leftInBlock = min(rest, longest)
          sink.put(isLast && leftInBlock == rest ? 1 : 0, count: 1)
          sink.put(0, count: 2)
          sink.alignToByte()
          sink.put(leftInBlock, count: 16)
          sink.put(leftInBlock ^ 0xffff, count: 16)
        }
        let step = min(leftInBlock, lineBytes - offset)
        sink.append(line + offset, count: step)
        offset += step
        leftInBlock -= step
        rest -= step
      }
    }
  }
}
