import CDeflate

/// A PNG file of the usual kind, which can be inflated at once: 8-bit RGB, gray of 8 or 16 bits,
/// not interlaced, no chunks other than IHDR, IDAT, IEND and notes that do not change samples.
///
/// Checks are as strict as libpng's: order and CRC-32 of all chunks, the exact length of the lines,
/// Adler-32. Files of other kinds and files with errors are left to libpng and its messages.
struct PlainPNG {
  let format: PNGFormat
  let width: Int
  let height: Int
  /// Ranges of the compressed lines in the file.
  private let data: [Range<Int>]
  private let input: UnsafeRawBufferPointer

  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  /// Files with more or longer notes are left to libpng, which has its own limits.
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
      case let type where PNGParts.notes.contains(type):
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

  /// The pixel format in the IHDR at `offset`; `nil` unless compression, filter and interlace
  /// methods are 0.
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

  /// The compressed lines in a file of header, data and end alone; `nil` if the file is that already. Pixels are not
  /// inflated.
  var bare: [UInt8]? {
    let head = 0..<33
    let chunks = data.map { ($0.lowerBound - 8)..<($0.upperBound + 4) }
    let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]
    let count = head.count + chunks.reduce(0) { $0 + $1.count } + end.count
    if count == input.count { return nil }
    var file: [UInt8] = []
    file.reserveCapacity(count)
    for range in [head] + chunks { file += UnsafeRawBufferPointer(rebasing: input[range]) }
    return file + end
  }

  var rowBytes: Int { width * format.pixelBytes }
  /// Size of all lines, each with its filter byte.
  var lineBytes: Int { (rowBytes + 1) * height }
  /// Size of the compressed lines.
  var dataBytes: Int { data.reduce(0) { $0 + $1.count } }

  /// Inflates the lines into `lines`, which must hold `lineBytes`, and converts them to rows of
  /// pixels from its start; 16-bit samples are big-endian. `false` on any error; the content of
  /// `lines` is then undefined.
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
      // libpng warns of bytes after the stream and fails for fewer or more lines.
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

/// The chunks of a PNG file in order, each with a verified checksum.
struct PNGParts {
  static let header: UInt32 = 0x4948_4452
  static let data: UInt32 = 0x4944_4154
  static let end: UInt32 = 0x4945_4e44
  /// Chunks that say something about the picture. iOS writes sRGB, eXIf and iDOT.
  static let notes = ["tEXt", "sRGB", "gAMA", "cHRM", "eXIf", "iDOT", "pHYs", "tIME"].map {
    $0.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  private let input: UnsafeRawBufferPointer
  private var offset: Int

  init(_ input: UnsafeRawBufferPointer, from offset: Int) {
    self.input = input
    self.offset = offset
  }

  /// `nil` at the end of the bytes, for a chunk that extends beyond them, and for a wrong checksum.
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

  /// The big-endian number at `offset`, which must be inside.
  static func number(_ input: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    UInt32(bigEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
