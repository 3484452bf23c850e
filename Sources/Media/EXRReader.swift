import Core
import SystemPackage

/// Reads depth from OpenEXR files: one part, scan lines, a channel of 16- or 32-bit floating-point numbers.
///
/// Compressions: none, run lengths, zlib per line or per 16 lines. Sizes are compared with the file before memory is
/// allocated.
public enum EXRReader {
  /// A picture of one channel.
  public struct Picture: Sendable {
    public var width: Int
    public var height: Int
    /// Row by row, from the top; NaN and infinities as stored.
    public var values: [Float]
    /// Whether the file holds 16-bit numbers.
    public var isHalf: Bool
  }

  /// The channel `R` of the bytes of a file, else `Y`, else `Z`, else the only one; `file` is for messages only.
  ///
  /// Throws for other files, and for those whose lines are not all there. Cost: one pass.
  public static func picture(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> Picture {
    let header = try EXRHeader(bytes, file: file)
    let lines = try EXRBlocks(header, bytes, file: file)
    var picture = Picture(
      width: header.width, height: header.height,
      values: [Float](repeating: 0, count: header.width * header.height),
      isHalf: header.channel.kind == .half)
    var raw: [UInt8] = []
    for block in lines.blocks {
      let count = min(header.compression.lines, header.height - block.firstRow)
      try lines.unpack(block, lines: count, into: &raw)
      for line in 0..<count {
        let start = line * header.bytesPerLine + header.channel.offset
        let row = (block.firstRow + line) * header.width
        raw.withUnsafeBytes { raw in
          picture.values.withUnsafeMutableBufferPointer { values in
            Self.convert(
              raw, from: start, header.channel.kind,
              to: UnsafeMutableBufferPointer(rebasing: values[row..<row + header.width]))
          }
        }
      }
    }
    return picture
  }

  /// Width, height and kind of number, without decoding lines.
  public static func size(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> (width: Int, height: Int, isHalf: Bool) {
    let header = try EXRHeader(bytes, file: file)
    return (header.width, header.height, header.channel.kind == .half)
  }

  private static func convert(
    _ raw: UnsafeRawBufferPointer, from start: Int, _ kind: EXRHeader.Kind,
    to values: UnsafeMutableBufferPointer<Float>
  ) {
    switch kind {
    case .half:
      for column in 0..<values.count {
        let bits = raw.loadUnaligned(fromByteOffset: start &+ 2 &* column, as: UInt16.self)
        values[column] = HalfFloat.single(UInt16(littleEndian: bits))
      }
    case .float, .integer:
      for column in 0..<values.count {
        let bits = raw.loadUnaligned(fromByteOffset: start &+ 4 &* column, as: UInt32.self)
        values[column] = Float(bitPattern: UInt32(littleEndian: bits))
      }
    }
  }
}

/// The attributes of an OpenEXR file that tell where its lines lie.
struct EXRHeader {
  enum Kind: Int {
    case integer, half, float

    var bytes: Int { self == .half ? 2 : 4 }
  }

  enum Compression: Int {
    case none, runLengths, zlibLine, zlib

    /// Number of lines in a block.
    var lines: Int { self == .zlib ? 16 : 1 }

    /// The greatest number of bytes that a packed byte can hold.
    var mostRatio: Int {
      switch self {
      case .none: 1
      case .runLengths: 64
      case .zlibLine, .zlib: 1032
      }
    }
  }

  struct Channel {
    var name: String
    var kind: Kind
    /// Where its numbers start in a line, in bytes.
    var offset = 0
  }

  let width: Int
  let height: Int
  /// The row number of the first line.
  let firstLine: Int
  let compression: Compression
  let channel: Channel
  /// Bytes per line of all channels.
  let bytesPerLine: Int
  /// Where the table of blocks starts.
  let end: Int

  static let mostSide = 16_384
  private static let mostNameBytes = 31

  /// Flags of the version field, and why such a file is not read.
  private static let refused: [(flag: Int, what: String)] = [
    (0x200, "it is tiled"), (0x400, "it has long names"), (0x800, "it has deep pixels"),
    (0x1000, "it has several parts"),
  ]
  private static let compressions = [
    4: "PIZ", 5: "PXR24", 6: "B44", 7: "B44A", 8: "DWAA", 9: "DWAB", 10: "HTJ2K",
  ]

  init(_ bytes: [UInt8], file: FilePath?) throws(ImageError) {
    var reader = EXRFields(bytes: bytes, file: file)
    guard bytes.starts(with: [0x76, 0x2F, 0x31, 0x01]) else {
      throw reader.fault("it has no EXR mark")
    }
    reader.offset = 4
    let version = try reader.integer()
    guard version & 0xFF == 2 else { throw reader.fault("version \(version & 0xFF) is not known") }
    for (flag, what) in Self.refused where version & flag != 0 { throw reader.fault(what) }

    var channels: [Channel]?
    var window: [Int]?
    var packing: Int?
    while true {
      let name = try reader.text(most: Self.mostNameBytes)
      if name.isEmpty { break }
      _ = try reader.text(most: Self.mostNameBytes)
      let size = try reader.integer()
      let start = reader.offset
      guard size >= 0, size <= bytes.count - start else {
        throw reader.fault("its attribute \(name) is longer than the file")
      }
      switch name {
      case "channels": channels = try Self.channels(&reader, end: start + size)
      case "compression": packing = size == 1 ? Int(bytes[start]) : nil
      case "dataWindow":
        guard size == 16 else { break }
        var sides: [Int] = []
        for _ in 0..<4 { sides.append(try reader.integer()) }
        window = sides
      default: break
      }
      reader.offset = start + size
    }
    end = reader.offset
    guard let channels, let window, let packing else {
      throw reader.fault("channels, compression or dataWindow is missing")
    }
    guard let compression = Compression(rawValue: packing) else {
      throw reader.fault(
        "its compression \(Self.compressions[packing] ?? "\(packing)") is not read")
    }
    self.compression = compression
    firstLine = window[1]
    width = window[2] - window[0] + 1
    height = window[3] - window[1] + 1
    guard width > 0, height > 0, width <= Self.mostSide, height <= Self.mostSide else {
      throw reader.fault(
        "it has \(width)x\(height) pixels, at most \(Self.mostSide) along a side are read")
    }
    (channel, bytesPerLine) = try Self.choose(channels, width: width, reader)
    // Before memory is allocated: each block has a place in the table, a header and its bytes.
    let blocks = (height + compression.lines - 1) / compression.lines
    let packed = bytes.count - end - 16 * blocks
    guard packed >= 0, height * bytesPerLine / compression.mostRatio <= packed else {
      throw reader.fault("it claims \(width)x\(height) pixels, more than the file holds")
    }
  }

  private static func channels(
    _ reader: inout EXRFields, end: Int
  ) throws(ImageError) -> [Channel] {
    var channels: [Channel] = []
    while reader.offset < end {
      let name = try reader.text(most: mostNameBytes)
      if name.isEmpty { break }
      let kind = try reader.integer()
      _ = try reader.integer()
      let sampling = (try reader.integer(), try reader.integer())
      guard sampling == (1, 1) else {
        throw reader.fault("its channel \(name) has less than one number per pixel")
      }
      guard let known = Kind(rawValue: kind) else {
        throw reader.fault("its channel \(name) has numbers of unknown kind \(kind)")
      }
      channels.append(Channel(name: name, kind: known))
    }
    return channels
  }

  /// The channel with the depth, and the length of a line.
  private static func choose(
    _ channels: [Channel], width: Int, _ reader: EXRFields
  ) throws(ImageError) -> (Channel, Int) {
    var offset = 0
    // Writers sort them; lines hold them in this order.
    var found = channels.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for index in found.indices {
      found[index].offset = offset
      offset += width * found[index].kind.bytes
    }
    let named = ["R", "Y", "Z"].lazy.compactMap { name in found.first { $0.name == name } }.first
    guard let channel = named ?? (found.count == 1 ? found.first : nil) else {
      let names = found.map(\.name).joined(separator: ", ")
      throw reader.fault("none of its channels is depth (\(names.isEmpty ? "it has none" : names))")
    }
    guard channel.kind != .integer else {
      throw reader.fault("its channel \(channel.name) holds integers")
    }
    return (channel, offset)
  }
}

/// Reads the fields of a header one after the other.
struct EXRFields {
  let bytes: [UInt8]
  let file: FilePath?
  var offset = 0

  func fault(_ what: String) -> ImageError {
    ImageError(
      file: file, what: "not readable as EXR: \(what)", byteOffset: min(offset, bytes.count),
      remedy: "copy the file again")
  }

  /// A signed 32-bit number.
  mutating func integer() throws(ImageError) -> Int {
    guard offset <= bytes.count - 4 else { throw fault("the file ends early") }
    defer { offset += 4 }
    let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    return Int(Int32(bitPattern: bits))
  }

  /// A text up to its zero byte.
  mutating func text(most: Int) throws(ImageError) -> String {
    let rest = bytes[min(offset, bytes.count)...]
    guard let end = rest.prefix(most + 1).firstIndex(of: 0) else {
      throw fault(rest.count > most ? "a name has more than \(most) bytes" : "the file ends early")
    }
    defer { offset = end + 1 }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }
}

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
    raw.resize(to: count)
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
    packed.withUnsafeBufferPointer { packed in
      raw.withUnsafeMutableBufferPointer { raw in Self.restore(packed, to: raw) }
    }
  }

  /// Each byte was packed as the difference to the one before, plus 128; the first half are the even bytes.
  private static func restore(
    _ packed: UnsafeBufferPointer<UInt8>, to raw: UnsafeMutableBufferPointer<UInt8>
  ) {
    let half = (packed.count + 1) / 2
    var (last, index, place): (UInt8, Int, Int) = (128, 0, 0)
    while index < packed.count {
      last = last &+ packed[index] &- 128
      raw[place] = last
      index &+= 1
      place = index == half ? 1 : place &+ 2
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
