import SystemPackage

/// The packed lines of an OpenEXR file.
struct EXRBlocks {
  struct Block {
    /// The row of its first line, from 0 at the top.
    var firstRow: Int
    /// Where its packed bytes lie.
    var range: Range<Int>
  }

  /// One per group of lines, from the top.
  let blocks: [Block]
  private let header: EXRHeader
  private let bytes: [UInt8]
  private let file: FilePath?

  /// Finds all blocks by the table; where that is wrong, by walking from one to the next.
  init(_ header: EXRHeader, _ bytes: [UInt8], file: FilePath?) throws(ImageError) {
    self.header = header
    self.bytes = bytes
    self.file = file
    let count = (header.height + header.compression.lines - 1) / header.compression.lines
    guard let found = Self.listed(header, bytes, count) ?? Self.walked(header, bytes, count) else {
      throw ImageError(
        file: file, what: "not readable as EXR: lines are missing", byteOffset: bytes.count,
        remedy: "copy the file again")
    }
    blocks = found
  }

  /// The block that starts at `offset`; `nil` if none does.
  private static func block(_ header: EXRHeader, _ bytes: [UInt8], at offset: Int) -> Block? {
    var fields = EXRFields(bytes: bytes, file: nil)
    guard offset >= 0, offset <= bytes.count - 8 else { return nil }
    fields.offset = offset
    guard let line = try? fields.integer(), let size = try? fields.integer() else { return nil }
    let row = line - header.firstLine
    let start = offset + 8
    guard row >= 0, row < header.height, row % header.compression.lines == 0, size > 0,
      size <= bytes.count - start
    else { return nil }
    return Block(firstRow: row, range: start..<start + size)
  }

  private static func listed(_ header: EXRHeader, _ bytes: [UInt8], _ count: Int) -> [Block]? {
    let end = header.end + 8 * count
    var blocks: [Block] = []
    blocks.reserveCapacity(count)
    for index in 0..<count {
      let offset = bytes.withUnsafeBytes {
        UInt64(
          littleEndian: $0.loadUnaligned(fromByteOffset: header.end + 8 * index, as: UInt64.self))
      }
      guard let offset = Int(exactly: offset), offset >= end,
        let block = block(header, bytes, at: offset),
        block.firstRow == index * header.compression.lines
      else { return nil }
      blocks.append(block)
    }
    return blocks
  }

  private static func walked(_ header: EXRHeader, _ bytes: [UInt8], _ count: Int) -> [Block]? {
    var found = [Block?](repeating: nil, count: count)
    var offset = header.end + 8 * count
    for _ in 0..<count {
      guard let block = block(header, bytes, at: offset) else { break }
      let index = block.firstRow / header.compression.lines
      if found[index] == nil { found[index] = block }
      offset = block.range.upperBound
    }
    let blocks = found.compactMap(\.self)
    return blocks.count == count ? blocks : nil
  }

  /// Replaces `raw` by the numbers of a block, line by line.
  func unpack(_ block: Block, lines: Int, into raw: inout [UInt8]) throws(ImageError) {
    let count = lines * header.bytesPerLine
    if raw.count != count { raw = [UInt8](repeating: 0, count: count) }
    if block.range.count == count {
      raw.replaceSubrange(0..<count, with: bytes[block.range])
      return
    }
    var packed = [UInt8](repeating: 0, count: count)
    let isWhole =
      switch header.compression {
      case .none: false
      case .runLengths: expand(block.range, into: &packed)
      case .zlibLine, .zlib: inflate(block.range, into: &packed)
      }
    guard isWhole, block.range.count < count else {
      throw ImageError(
        file: file,
        what: "not readable as EXR: the lines from row \(block.firstRow) on do not unpack",
        byteOffset: block.range.lowerBound, remedy: "copy the file again")
    }
    Self.integrate(&packed)
    // The first half are the even bytes.
    let half = (count + 1) / 2
    for index in 0..<half { raw[2 * index] = packed[index] }
    for index in half..<count { raw[2 * (index - half) + 1] = packed[index] }
  }

  /// Each byte was stored as the difference to the one before, plus 128.
  private static func integrate(_ bytes: inout [UInt8]) {
    var last: UInt8 = 0
    for index in bytes.indices {
      last = index == 0 ? bytes[0] : last &+ bytes[index] &- 128
      bytes[index] = last
    }
  }

  private func inflate(_ range: Range<Int>, into output: inout [UInt8]) -> Bool {
    bytes.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { output in
        var span = output.mutableBytes
        let packed = UnsafeRawBufferPointer(rebasing: input[range]).bytes
        let result = try? WholeInflate.inflate(packed, format: .zlib, into: &span)
        return result?.produced == output.count
      }
    }
  }

  /// A negative count is followed by that many bytes, any other by a byte that repeats once more often.
  private func expand(_ range: Range<Int>, into output: inout [UInt8]) -> Bool {
    var (at, filled) = (range.lowerBound, 0)
    while at < range.upperBound {
      let count = Int(Int8(bitPattern: bytes[at]))
      at += 1
      let length = count < 0 ? -count : count + 1
      let used = count < 0 ? length : 1
      guard used <= range.upperBound - at, length <= output.count - filled else { return false }
      for index in 0..<length { output[filled + index] = bytes[count < 0 ? at + index : at] }
      at += used
      filled += length
    }
    return filled == output.count
  }
}
