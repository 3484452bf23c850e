import CDeflate
import Core

/// Encodes pictures as PNG files: gray and RGB of 8 and 16 bits, with no chunks but the required ones,
/// an optional cICP and optional notes.
///
/// The output depends on the pixels and the compression alone. Memory for lines and codes is kept
/// from picture to picture (about 0.5 MB, 3 MB more for RGB; a copy of the picture with `compact`
/// and `archive`), so make one writer per worker.
///
/// A file is at most 1 % and 150 bytes larger than the stored lines. Sides are 1…32,768 pixels.
///
/// Cost on one core for a noisy 1296x968 frame of a video: `fast` 4 to 8 ms, `compact` 10 to 20 ms,
/// `archive` 100 ms and more.
public struct PNGWriter {
  public let compression: PNGCompression
  /// Notes that are written to every file, after the pixels; none by default.
  public let notes: [PNGText]
  /// The colors that every file states; none by default.
  public let color: PNGColor?

  private var scratch: [UInt8] = []
  private var fast: FastDeflate?
  private var pixelwise: RGBDeflate?
  private var thorough: [PNGFormat: LibdeflateStream] = [:]

  public init(
    compression: PNGCompression = .fast, notes: [PNGText] = [], color: PNGColor? = nil
  ) {
    self.compression = compression
    self.notes = notes
    self.color = color
    if compression == .fast { fast = FastDeflate() }
  }

  /// Encodes a picture of three bytes per pixel, row 0 on top, no padding.
  public mutating func encode(
    rgb: [UInt8], width: Int, height: Int
  ) throws(ImageError) -> [UInt8] {
    var file: [UInt8] = []
    try encode(rgb: rgb, width: width, height: height, into: &file)
    return file
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
    var file: [UInt8] = []
    try encode(gray8: gray8, width: width, height: height, into: &file)
    return file
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
    var file: [UInt8] = []
    try encode(gray16: gray16, width: width, height: height, into: &file)
    return file
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

  private static let largestSide = 32_768
  /// Most bytes of lines: a chunk holds at most 2^31 - 1 bytes, and all pixels are in one.
  private static let largestLinesBytes = 1 << 30

  private mutating func encode(
    _ pixels: RawSpan, _ format: PNGFormat, width: Int, height: Int, into file: inout [UInt8]
  ) throws(ImageError) {
    try Self.check(byteCount: pixels.byteCount, format, width: width, height: height)
    let rowBytes = width * format.pixelBytes
    let deflatedBytes = max(
      PixelDeflate.largestBytes(lineBytes: rowBytes + 1, height: height),
      compression == .fast
        ? FastDeflate.largestBytes(lineBytes: rowBytes + 1, height: height)
        : LibdeflateStream.largestBytes((rowBytes + 1) * height))
    let scratchBytes =
      Scanlines.scratchBytes(rowBytes: rowBytes)
      + (compression == .fast ? 0 : (rowBytes + 1) * height)
    if scratch.count < scratchBytes { scratch = [UInt8](repeating: 0, count: scratchBytes) }
    if format == .rgb8 && compression != .archive && pixelwise == nil {
      pixelwise = RGBDeflate(compression: compression)
    }
    if compression != .fast && thorough[format] == nil {
      thorough[format] = try LibdeflateStream(format, compression: compression)
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
            if format == .rgb8, let bytes = pixelwise?.compress(&lines, to: target) {
              deflated = bytes
            } else if let thorough = thorough[format] {
              let packed = scratchStart + Scanlines.scratchBytes(rowBytes: rowBytes)
              deflated = thorough.compress(
                &lines, packed: packed, to: target, capacity: deflatedBytes)
            } else {
              deflated = fast?.compress(&lines, to: target) ?? 0
            }
            initializedCount = PNGChunks.finish(
              file, format, width: width, height: height, dataBytes: deflated, color: color,
              notes: notes)
          }
        }
      }
    }
    if deflated == 0 {
      file.removeAll()
      throw ImageError(what: "libdeflate did not accept \(width)x\(height) pixels")
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
