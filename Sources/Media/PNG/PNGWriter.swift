import CDeflate
import Core

/// Encodes pictures as PNG files: gray and RGB of 8 and 16 bits, with no chunks but the required ones,
/// an optional cICP and optional notes.
///
/// The output depends on the pixels and the compression alone. Memory for lines and codes is kept
/// from picture to picture (about 0.5 MB, 3 MB more for RGB; a copy of the picture with `compact`),
/// so make one writer per worker.
///
/// A file is at most 1 % and 150 bytes larger than the stored lines. Sides are 1…32,768 pixels.
///
/// Cost on one core for a noisy 1296x968 frame of a video: `fastest` 3 to 4 ms, `fast` 4 to 8 ms,
/// `compact` 10 to 20 ms.
public struct PNGWriter {
  public let compression: PNGCompression
  /// Notes that are written to every file, after the pixels; none by default.
  public let notes: [PNGText]
  /// The colors that every file states; none by default.
  public let color: PNGColor?

  private var scratch: [UInt8] = []
  private var fast = FastDeflate()
  private var literals: LiteralDeflate?
  private var matches: EncodingStrategy?
  private var thorough: [PNGFormat: LibdeflateStream] = [:]

  public init(
    compression: PNGCompression = .fast, notes: [PNGText] = [], color: PNGColor? = nil
  ) {
    self.compression = compression
    self.notes = notes
    self.color = color
    if compression == .fastest { literals = LiteralDeflate() }
  }

  /// Encodes a picture of three bytes per pixel, row 0 on top, no padding.
  public mutating func encode(
    rgb: [UInt8], width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    try encoded(rgb.span.bytes, .rgb8, width: width, height: height)
  }

  /// Encodes into reused memory: replaces the content of `file`, keeps its storage.
  public mutating func encode(
    rgb: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try encode(rgb.span.bytes, .rgb8, width: width, height: height, into: &file)
  }

  /// Encodes a picture of three 16-bit values per pixel in the byte order of the host, into reused
  /// memory.
  public mutating func encode(
    rgb16: [UInt16], width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try encode(rgb16.span.bytes, .rgb16, width: width, height: height, into: &file)
  }

  /// Encodes a picture of one byte per pixel.
  public mutating func encode(
    gray8: [UInt8], width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    try encoded(gray8.span.bytes, .gray8, width: width, height: height)
  }

  /// Encodes 8-bit gray into reused memory.
  public mutating func encode(
    gray8: [UInt8], width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try encode(gray8.span.bytes, .gray8, width: width, height: height, into: &file)
  }

  /// Encodes a picture of 16-bit values in the byte order of the host; they are big-endian in the
  /// file.
  public mutating func encode(
    gray16: [UInt16], width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    try encoded(gray16.span.bytes, .gray16, width: width, height: height)
  }

  /// Encodes 16-bit gray into reused memory.
  public mutating func encode(
    gray16: [UInt16], width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try encode(gray16.span.bytes, .gray16, width: width, height: height, into: &file)
  }

  /// Encodes an 8-bit RGB picture.
  public mutating func encode(_ image: ColorImage) throws(ImageError) -> [UInt8] {
    try encode(rgb: image.rgb, width: image.width, height: image.height)
  }

  /// Encodes an 8-bit gray picture.
  public mutating func encode(_ image: GrayImage) throws(ImageError) -> [UInt8] {
    try encode(gray8: image.values, width: image.width, height: image.height)
  }

  /// Encodes a 16-bit gray picture of millimeters.
  public mutating func encode(_ image: DepthImage) throws(ImageError) -> [UInt8] {
    try encode(gray16: image.millimeters, width: image.width, height: image.height)
  }

  private mutating func encoded(
    _ pixels: RawSpan, _ format: PNGFormat, width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    var file: [UInt8] = []
    try encode(pixels, format, width: width, height: height, into: &file)
    return file
  }

  private static let largestSide = 32_768
  /// Most bytes of lines: a chunk holds at most 2^31 - 1 bytes, and all pixels are in one.
  private static let largestLinesBytes = 1 << 30

  private mutating func encode(
    _ pixels: RawSpan, _ format: PNGFormat, width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try Self.check(byteCount: pixels.byteCount, format, width: width, height: height)
    let rowBytes = width * format.pixelBytes
    let isThorough = compression == .compact
    // `compact` makes two streams, of which the shorter one stays.
    let deflatedBytes =
      max(
        PixelDeflate.largestBytes(lineBytes: rowBytes + 1, height: height),
        FastDeflate.largestBytes(lineBytes: rowBytes + 1, height: height)) * (isThorough ? 2 : 1)
    let scratchBytes =
      Scanlines.scratchBytes(rowBytes: rowBytes) + (isThorough ? (rowBytes + 1) * height : 0)
    if scratch.count < scratchBytes { scratch = [UInt8](repeating: 0, count: scratchBytes) }
    if format == .rgb8, literals == nil, matches == nil {
      matches = EncodingStrategy(compression)
    }
    if isThorough && thorough[format] == nil {
      thorough[format] = try LibdeflateStream(format)
    }

    file.removeAll(keepingCapacity: true)
    let largestFile =
      PNGChunks.overheadBytes(color) + deflatedBytes + notes.reduce(0) { $0 + $1.chunkBytes }
    var deflated = 0
    pixels.withUnsafeBytes { pixels in
      scratch.withUnsafeMutableBufferPointer { scratch in
        guard let pixels = pixels.baseAddress, let scratchStart = scratch.baseAddress else {
          return
        }
        file.append(addingCapacity: largestFile) { (file: inout OutputSpan<UInt8>) in
          file.withUnsafeMutableBufferPointer { file, initializedCount in
            guard let start = file.baseAddress else { return }
            var lines = Scanlines(
              pixels: pixels, width: width, height: height, format: format, scratch: scratchStart)
            let target = UnsafeMutableRawPointer(start + PNGChunks.bytesBeforeData(color))
            if format == .rgb8, let bytes = matches?.compress(&lines, to: target) {
              deflated = bytes
            } else if format == .rgb8, let bytes = literals?.compress(&lines, to: target) {
              deflated = bytes
            } else {
              deflated = fast.compress(&lines, to: target)
              if let thorough = thorough[format] {
                let packed = scratchStart + Scanlines.scratchBytes(rowBytes: rowBytes)
                deflated = thorough.shorten(deflated, at: target, &lines, packed: packed)
              }
            }
            initializedCount = PNGChunks.finish(
              file, format, width: width, height: height, dataBytes: deflated, color: color,
              notes: notes)
          }
        }
      }
    }
  }

  private static func check(
    byteCount: Int, _ format: PNGFormat, width: Int, height: Int
  ) throws(ImageError) {
    guard (1...largestSide).contains(width), (1...largestSide).contains(height),
      (width * format.pixelBytes + 1) * height <= largestLinesBytes
    else {
      throw ImageError(
        what: "\(width)x\(height) pixels cannot be written as PNG",
        remedy: "sides are 1…\(largestSide) pixels and lines make at most 1 GiB")
    }
    guard byteCount == width * height * format.pixelBytes else {
      throw ImageError(
        what: "\(byteCount) bytes are not a picture of \(width)x\(height) pixels",
        remedy: "rows follow each other without padding")
    }
  }
}

/// Compresses the lines of a picture with libdeflate, all at once, for `compact`.
///
/// Filters and levels were chosen on noisy frames and depth maps, by size within the time that the
/// compression allows:
/// - RGB: Up for all rows. Conversion of video repeats chroma for pairs of rows, so that an odd row
///   minus the one above has three equal differences per pixel, which the match search finds. Level 1
///   for drawings, whose matches are long (`PixelDeflate` writes everything else).
/// - 16-bit depth: the filter that `FastDeflate` chooses row by row, level 4.
/// - 16-bit RGB: Paeth, level 4.
/// - 8-bit gray, which has areas of a few values: no prediction, level 6.
final class LibdeflateStream {
  private let compressor: OpaquePointer
  private let format: PNGFormat
  private var choice = FilterChoice(isWide: GrayFinder.hasWide)

  init(_ format: PNGFormat) throws(ImageError) {
    let level: Int32 =
      switch format {
      case .rgb8: 1
      case .gray16, .rgb16: 4
      case .gray8: 6
      }
    guard let compressor = libdeflate_alloc_compressor(level) else {
      throw ImageError(what: "no memory for a compressor")
    }
    self.compressor = compressor
    self.format = format
  }

  deinit {
    libdeflate_free_compressor(compressor)
  }

  /// Replaces the zlib stream of `bytes` bytes at `target` by one of matches where that is shorter, and returns the
  /// length. `target` must hold twice as many bytes, and `packed` all lines.
  func shorten(
    _ bytes: Int, at target: UnsafeMutableRawPointer, _ lines: inout Scanlines,
    packed: UnsafeMutablePointer<UInt8>
  ) -> Int {
    for y in 0..<lines.height {
      let filter: ScanlineFilter =
        switch format {
        case .rgb8: .up
        case .gray16: choice.filter(&lines, row: y)
        case .rgb16: .paeth
        case .gray8: .none
        }
      lines.write(y, filter: filter, to: packed + y * lines.lineBytes)
    }
    let shorter = target + bytes
    // Stops where the stream is not shorter.
    let count = libdeflate_zlib_compress(compressor, packed, lines.totalBytes, shorter, bytes - 1)
    guard count > 0 else { return bytes }
    target.copyMemory(from: shorter, byteCount: count)
    return count
  }
}

/// The parts of a PNG file around the compressed lines: signature, IHDR, optional cICP, one IDAT,
/// optional notes, IEND.
struct PNGChunks {
  /// Memory whose size the caller has checked.
  private let target: UnsafeMutableRawBufferPointer
  private var offset = 0

  /// Size of signature, IHDR, cICP if there is one, and the start of IDAT.
  static func bytesBeforeData(_ color: PNGColor?) -> Int { 8 + 25 + (color == nil ? 0 : 16) + 8 }

  /// Size of everything but the compressed lines and notes.
  static func overheadBytes(_ color: PNGColor?) -> Int { bytesBeforeData(color) + 4 + 12 }

  /// Completes a file whose compressed lines are at `bytesBeforeData`; returns its length. `file`
  /// must be large enough.
  static func finish(
    _ file: UnsafeMutableBufferPointer<UInt8>, _ format: PNGFormat, width: Int, height: Int,
    dataBytes: Int, color: PNGColor?, notes: [PNGText]
  ) -> Int {
    let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    var writer = PNGChunks(target: UnsafeMutableRawBufferPointer(file))
    writer.append(signature)
    // Compression, filter and interlace methods are 0.
    let start = writer.beginChunk("IHDR", dataBytes: 13)
    writer.append(UInt32(truncatingIfNeeded: width))
    writer.append(UInt32(truncatingIfNeeded: height))
    writer.append([format.bitDepth, format.colorType, 0, 0, 0])
    writer.endChunk(from: start)
    if let color {
      let start = writer.beginChunk("cICP", dataBytes: 4)
      // The matrix of RGB is 0, and its range is full.
      writer.append([color.primaries, color.transfer, 0, 1])
      writer.endChunk(from: start)
    }
    let data = writer.beginChunk("IDAT", dataBytes: dataBytes)
    writer.offset += dataBytes
    writer.endChunk(from: data)
    for note in notes {
      let start = writer.beginChunk("tEXt", dataBytes: note.keyword.count + 1 + note.text.count)
      writer.append(note.keyword)
      writer.append([0])
      writer.append(note.text)
      writer.endChunk(from: start)
    }
    let end = writer.beginChunk("IEND", dataBytes: 0)
    writer.endChunk(from: end)
    return writer.offset
  }

  /// Appends a number, big-endian.
  private mutating func append(_ value: UInt32) {
    target.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    offset += 4
  }

  private mutating func append(_ bytes: [UInt8]) {
    for byte in bytes {
      target[offset] = byte
      offset += 1
    }
  }

  /// Begins a chunk; returns the start of the part that the checksum covers.
  private mutating func beginChunk(_ type: StaticString, dataBytes: Int) -> Int {
    append(UInt32(truncatingIfNeeded: dataBytes))
    let start = offset
    type.withUTF8Buffer { append(Array($0)) }
    return start
  }

  private mutating func endChunk(from start: Int) {
    append(libdeflate_crc32(0, target.baseAddress.map { $0 + start }, offset - start))
  }
}

/// What the samples of a PNG file mean: the `cICP` chunk of PNG's third edition, by numbers of ITU-T
/// H.273. Samples are RGB of full range.
public struct PNGColor: Hashable, Sendable {
  var primaries: UInt8
  var transfer: UInt8
}

/// Compression effort of a PNG writer. The pixels are the same for all.
public enum PNGCompression: String, CaseIterable, Sendable {
  /// Predicted bytes are Huffman-coded as literals; where most predicted pixels are gray, as in
  /// videos, as matches of earlier ones. The strategy is chosen per picture by estimated size and
  /// time. Takes a tenth of the time of usual writers or less, and gives smaller files.
  case fast
  /// Predicted bytes of RGB are Huffman-coded as literals with a code that vectors look up. Files are
  /// a fifth larger than with `fast` for a noisy phone video, and up to a half for smooth pictures,
  /// where matches save most. Other pictures are written as with `fast`.
  case fastest
  /// Searches matches of pixels of all colors, for captures that are kept: a tenth smaller, two to
  /// three times the time.
  case compact
}

/// A note inside a PNG file: a `tEXt` chunk.
public struct PNGText: Hashable, Sendable {
  let keyword: [UInt8]
  let text: [UInt8]

  /// `nil` when a value is not allowed in a file. A keyword has 1…79 characters, no blanks at its
  /// ends and no two in a row; both are Latin-1 without control characters (lines of the text may
  /// end with `\n`); the text has at most 65,536 characters.
  public init?(keyword: String, text: String) {
    guard let key = Self.latin1(keyword, mayHaveLines: false),
      let content = Self.latin1(text, mayHaveLines: true),
      (1...79).contains(key.count), content.count <= 1 << 16, key.first != Self.blank,
      key.last != Self.blank,
      !zip(key, key.dropFirst()).contains(where: { $0 == (Self.blank, Self.blank) })
    else { return nil }
    self.keyword = key
    self.text = content
  }

  private static let blank = UInt8(ascii: " ")

  /// Size of the chunk: length, type, content, checksum.
  var chunkBytes: Int { 12 + keyword.count + 1 + text.count }

  private static func latin1(_ text: String, mayHaveLines: Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      let isPrintable = (0x20...0x7e).contains(scalar.value) || (0xa1...0xff).contains(scalar.value)
      guard isPrintable || (mayHaveLines && scalar == "\n") else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: scalar.value))
    }
    return bytes
  }
}
