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

/// Reverses the filters of PNG lines in place.
enum LineFilters {
  /// `lines` holds `height` lines: a filter byte, then `rowBytes` predicted bytes. Afterward the
  /// rows are contiguous from its start.
  ///
  /// A row ends before the line that it comes from does: no byte is overwritten before it was read.
  ///
  /// - Returns: `false` for an unknown filter.
  static func undo(
    _ lines: UnsafeMutableRawBufferPointer, rowBytes: Int, height: Int, pixelBytes: Int
  ) -> Bool {
    guard let base = lines.baseAddress, lines.count >= (rowBytes + 1) * height, rowBytes > 0 else {
      return false
    }
    // The row above the first row.
    let zeros = [UInt8](repeating: 0, count: rowBytes)
    return zeros.withUnsafeBytes { zeros in
      guard var above = zeros.baseAddress else { return false }
      for y in 0..<height {
        let line = UnsafeRawPointer(base) + y * (rowBytes + 1)
        let row = base + y * rowBytes
        let kernel: Kernel
        switch line.load(as: UInt8.self) {
        case 0: kernel = copy
        case 1: kernel = sub
        case 2: kernel = up
        case 3: kernel = average
        case 4: kernel = paeth
        default: return false
        }
        kernel(line + 1, above, row, rowBytes, pixelBytes)
        above = UnsafeRawPointer(row)
      }
      return true
    }
  }

  /// Computes a row from a line and the row above. The row may begin before the line and overlap
  /// it; reads are always ahead of writes.
  private typealias Kernel = (
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) -> Void

  private static func copy(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    row.copyMemory(from: line, byteCount: count)
  }

  private static func up(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    var i = 0
    // Explicitly 16 bytes at a time, because the compiler cannot know that the overlap is harmless.
    while i <= count - 16 {
      let value =
        line.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
        &+ above.loadUnaligned(fromByteOffset: i, as: SIMD16<UInt8>.self)
      row.storeBytes(of: value, toByteOffset: i, as: SIMD16<UInt8>.self)
      i &+= 16
    }
    while i < count {
      row.store(byte(line, i) &+ byte(above, i), i)
      i &+= 1
    }
  }

  private static func sub(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    switch pixelBytes {
    case 1: sub1(line, row, count)
    case 2: sub2(line, row, count)
    default: sub3(line, row, count)
    }
  }

  // The sums stay in registers: reading them back from the row takes several times as long.

  private static func sub1(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var a: UInt8 = 0
    for i in 0..<count {
      a &+= byte(line, i)
      row.store(a, i)
    }
  }

  private static func sub2(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var (a0, a1): (UInt8, UInt8) = (0, 0)
    var i = 0
    while i < count &- 1 {
      a0 &+= byte(line, i)
      a1 &+= byte(line, i &+ 1)
      row.store(a0, i)
      row.store(a1, i &+ 1)
      i &+= 2
    }
  }

  private static func sub3(_ line: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ count: Int) {
    var (a0, a1, a2): (UInt8, UInt8, UInt8) = (0, 0, 0)
    var i = 0
    while i < count &- 2 {
      a0 &+= byte(line, i)
      a1 &+= byte(line, i &+ 1)
      a2 &+= byte(line, i &+ 2)
      row.store(a0, i)
      row.store(a1, i &+ 1)
      row.store(a2, i &+ 2)
      i &+= 3
    }
  }

  private static func average(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    var i = 0
    while i < count {
      let left = i < pixelBytes ? 0 : UInt16(row.byte(i &- pixelBytes))
      let mean = (left &+ UInt16(byte(above, i))) &>> 1
      row.store(byte(line, i) &+ UInt8(truncatingIfNeeded: mean), i)
      i &+= 1
    }
  }

  private static func paeth(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int, _ pixelBytes: Int
  ) {
    // Without a left neighbor the prediction is the pixel above.
    let head = min(pixelBytes, count)
    up(line, above, row, head, pixelBytes)
    // The bytes of a pixel are independent of each other; each depends on its left neighbor only.
    switch pixelBytes {
    case 1: paeth1(line, above, row, count)
    case 2: paeth2(line, above, row, count)
    default: paeth3(line, above, row, count)
    }
  }

  private static func paeth1(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var a = Int32(row.byte(0))
    var c = Int32(byte(above, 0))
    var i = 1
    while i < count {
      (a, c) = step(line, above, row, i, a, c)
      i &+= 1
    }
  }

  private static func paeth2(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var (a0, a1) = (Int32(row.byte(0)), Int32(row.byte(1)))
    var (c0, c1) = (Int32(byte(above, 0)), Int32(byte(above, 1)))
    var i = 2
    while i < count {
      (a0, c0) = step(line, above, row, i, a0, c0)
      (a1, c1) = step(line, above, row, i &+ 1, a1, c1)
      i &+= 2
    }
  }

  private static func paeth3(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    var (a0, a1, a2) = (Int32(row.byte(0)), Int32(row.byte(1)), Int32(row.byte(2)))
    var (c0, c1, c2) = (Int32(byte(above, 0)), Int32(byte(above, 1)), Int32(byte(above, 2)))
    var i = 3
    while i < count {
      (a0, c0) = step(line, above, row, i, a0, c0)
      (a1, c1) = step(line, above, row, i &+ 1, a1, c1)
      (a2, c2) = step(line, above, row, i &+ 2, a2, c2)
      i &+= 3
    }
  }

  /// Adds the Paeth prediction: of a (left), b (above) and c (above left), the one nearest to a + b
  /// - c, the first of them on a tie. That is the smaller of a and b where 3c - a - b is at least the
  /// larger one, the larger one where it is at most the smaller one, and c in between; a is needed
  /// for fewer steps, one after the other, than distances take. Returns the left and above-left neighbors of the next pixel.
  @inline(__always)
  private static func step(
    _ line: UnsafeRawPointer, _ above: UnsafeRawPointer, _ row: UnsafeMutableRawPointer, _ i: Int,
    _ a: Int32, _ c: Int32
  ) -> (a: Int32, c: Int32) {
    let b = Int32(byte(above, i))
    let threshold = (c &* 3 &- b) &- a
    let low = min(a, b)
    let high = max(a, b)
    let lowOrC = high <= threshold ? low : c
    let nearest = threshold <= low ? high : lowOrC
    let value = byte(line, i) &+ UInt8(truncatingIfNeeded: nearest)
    row.store(value, i)
    return (Int32(value), b)
  }

  @inline(__always)
  private static func byte(_ pointer: UnsafeRawPointer, _ i: Int) -> UInt8 {
    pointer.load(fromByteOffset: i, as: UInt8.self)
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  fileprivate func byte(_ i: Int) -> UInt8 { load(fromByteOffset: i, as: UInt8.self) }

  @inline(__always)
  fileprivate func store(_ value: UInt8, _ i: Int) {
    storeBytes(of: value, toByteOffset: i, as: UInt8.self)
  }
}
