import CDeflate

/// A PNG file of the usual kind, whose picture can be inflated in one piece: 8-bit RGB, gray of 8 or 16 bits,
/// not interlaced, nothing but IHDR, IDAT, tEXt and IEND.
///
/// Everything that is checked is checked here as strictly as libpng does: order and CRC-32 of all parts, the
/// exact length of the lines, Adler-32. What is not of this kind, or not right, is left to libpng and its
/// messages.
struct PlainPNG {
  let format: PNGFormat
  let width: Int
  let height: Int
  /// Where the parts of the compressed lines are.
  private let data: [Range<Int>]
  private let input: UnsafeRawBufferPointer

  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  /// More of them, or longer ones, are libpng's matter: it has limits of its own.
  private static let mostNotes = 16
  private static let mostNoteBytes = 1 << 16

  /// `nil` when the file is not of this kind. Cost: a checksum over the bytes.
  init?(_ input: UnsafeRawBufferPointer, largestSide: Int) {
    // Signature, IHDR, an empty IDAT, IEND.
    guard input.count >= 8 + 25 + 12 + 12, input.starts(with: Self.signature) else { return nil }
    var parts = PNGParts(input, from: 8)
    guard let head = parts.next(), head.type == PNGParts.header, head.data.count == 13,
      let format = Self.format(input, head.data.lowerBound)
    else { return nil }
    let width = Int(PNGParts.number(input, head.data.lowerBound))
    let height = Int(PNGParts.number(input, head.data.lowerBound + 4))
    guard (1...largestSide).contains(width), (1...largestSide).contains(height) else { return nil }
    var data: [Range<Int>] = []
    var notes = 0
    var dataHasEnded = false
    while let part = parts.next() {
      switch part.type {
      case PNGParts.data:
        guard !dataHasEnded else { return nil }
        data.append(part.data)
      case PNGParts.text:
        notes += 1
        guard notes <= Self.mostNotes, part.data.count <= Self.mostNoteBytes else { return nil }
        dataHasEnded = !data.isEmpty
      case PNGParts.end:
        guard part.data.isEmpty, !data.isEmpty else { return nil }
        self.format = format
        self.width = width
        self.height = height
        self.data = data
        self.input = input
        return
      default: return nil
      }
    }
    return nil
  }

  /// The kind of picture that IHDR at `offset` tells; compression, filter and interlace methods must be 0.
  private static func format(_ input: UnsafeRawBufferPointer, _ offset: Int) -> PNGFormat? {
    guard input[offset + 10] == 0, input[offset + 11] == 0, input[offset + 12] == 0 else {
      return nil
    }
    switch (input[offset + 8], input[offset + 9]) {
    case (8, 2): return .rgb8
    case (8, 0): return .gray8
    case (16, 0): return .gray16
    default: return nil
    }
  }

  var rowBytes: Int { width * format.pixelBytes }
  /// Bytes of all lines, each with the byte that names its filter.
  var lineBytes: Int { (rowBytes + 1) * height }
  /// Bytes of the compressed lines.
  var dataBytes: Int { data.reduce(0) { $0 + $1.count } }

  /// Inflates the lines into `lines`, which has room for `lineBytes`, and turns them into rows of pixels at its
  /// start: samples of 16 bits big-endian. `false` when anything is wrong; `lines` has no meaning then.
  func read(into lines: UnsafeMutableRawBufferPointer) -> Bool {
    guard lines.count >= lineBytes, inflate(into: lines) else { return false }
    return LineFilters.undo(
      lines, rowBytes: rowBytes, height: height, pixelBytes: format.pixelBytes)
  }

  private func inflate(into lines: UnsafeMutableRawBufferPointer) -> Bool {
    guard let decompressor = libdeflate_alloc_decompressor() else { return false }
    defer { libdeflate_free_decompressor(decompressor) }
    var consumed = 0
    var produced = 0
    func run(_ stream: UnsafeRawBufferPointer) -> Bool {
      let status = libdeflate_zlib_decompress_ex(
        decompressor, stream.baseAddress, stream.count, lines.baseAddress, lineBytes, &consumed,
        &produced)
      // libpng warns of bytes behind the stream; fewer or more lines are its errors.
      return status == LIBDEFLATE_SUCCESS && consumed == stream.count && produced == lineBytes
    }
    if data.count == 1, let only = data.first {
      return run(UnsafeRawBufferPointer(rebasing: input[only]))
    }
    var joined: [UInt8] = []
    joined.reserveCapacity(dataBytes)
    for range in data { joined += input[range] }
    return joined.withUnsafeBytes(run)
  }
}

/// The parts (chunks) of a PNG file in order, each with its right checksum.
struct PNGParts {
  static let header: UInt32 = 0x4948_4452
  static let data: UInt32 = 0x4944_4154
  static let text: UInt32 = 0x7445_5874
  static let end: UInt32 = 0x4945_4e44

  private let input: UnsafeRawBufferPointer
  private var offset: Int

  init(_ input: UnsafeRawBufferPointer, from offset: Int) {
    self.input = input
    self.offset = offset
  }

  /// `nil` at the end of the bytes, before a part that they do not hold, and for a checksum that does not fit.
  mutating func next() -> (type: UInt32, data: Range<Int>)? {
    // Length, type and checksum.
    guard input.count - offset >= 12, let base = input.baseAddress else { return nil }
    let length = Int(Self.number(input, offset))
    guard length <= input.count - offset - 12 else { return nil }
    let start = offset + 8
    let sum = libdeflate_crc32(0, base + offset + 4, length + 4)
    guard sum == Self.number(input, start + length) else { return nil }
    let type = Self.number(input, offset + 4)
    offset = start + length + 4
    return (type, start..<start + length)
  }

  /// The big-endian number at `offset`, which is inside.
  static func number(_ input: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    UInt32(bigEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
