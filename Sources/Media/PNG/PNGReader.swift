import CPlatform
import Core
import SystemPackage

/// Reads PNG files strictly: a wrong checksum or a missing end is an error.
///
/// Files of the usual kind are inflated at once (`PlainPNG`), more than twice as fast. libpng reads
/// all others and reports errors.
///
/// Sides and pixels are limited (`InputLimits`). Before memory is allocated, the number of pixels
/// is also compared with the file size: deflate compresses at most 1,032 : 1.
public enum PNGReader {
  /// Reads a 16-bit gray picture. Other kinds are an error, because their values would not be
  /// millimeters.
  public static func depth(at file: FilePath) throws(ImageError) -> DepthImage {
    try depth(in: FileBytes.read(file), file: file)
  }

  /// Reads a gray picture of 8 bits or fewer; fewer are scaled to 0…255.
  public static func gray(at file: FilePath) throws(ImageError) -> GrayImage {
    try gray(in: FileBytes.read(file), file: file)
  }

  /// Reads any picture as 8-bit RGB: gray is repeated, palettes are applied, 16 bits are rounded to
  /// 8, alpha is dropped (not blended), gamma is ignored.
  public static func color(at file: FilePath) throws(ImageError) -> ColorImage {
    try color(in: FileBytes.read(file), file: file)
  }

  /// As `depth(at:)`, from the bytes of a file; `file` is for messages only.
  public static func depth(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> DepthImage {
    let picture: Picture<UInt16> = try read(bytes, as: .gray16, file: file)
    return DepthImage(width: picture.width, height: picture.height, millimeters: picture.samples)
  }

  /// As `gray(at:)`, from the bytes of a file; `file` is for messages only.
  public static func gray(in bytes: [UInt8], file: FilePath? = nil) throws(ImageError) -> GrayImage
  {
    let picture: Picture<UInt8> = try read(bytes, as: .gray8, file: file)
    return GrayImage(width: picture.width, height: picture.height, values: picture.samples)
  }

  /// As `color(at:)`, from the bytes of a file; `file` is for messages only.
  public static func color(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> ColorImage {
    let picture: Picture<UInt8> = try read(bytes, as: .rgb8, file: file)
    return ColorImage(width: picture.width, height: picture.height, rgb: picture.samples)
  }

  /// Reads a 16-bit RGB picture. Other kinds are an error.
  ///
  /// - Returns: size, and three values per pixel row by row.
  public static func wideColor(
    at file: FilePath
  ) throws(ImageError) -> (width: Int, height: Int, rgb: [UInt16]) {
    let picture: Picture<UInt16> = try read(FileBytes.read(file), as: .rgb16, file: file)
    return (picture.width, picture.height, picture.samples)
  }

  private static let largestSide = UInt32(clamping: InputLimits.sideOfPicture.most)

  /// Largest compression ratio of deflate: 258 bytes take at least two bits.
  private static let largestDeflateRatio = 1_032

  struct Picture<Sample> {
    var width: Int
    var height: Int
    var samples: [Sample]
  }

  private static func read<Sample: BitwiseCopyable>(
    _ bytes: [UInt8], as format: PNGFormat, file: FilePath?
  ) throws(ImageError) -> Picture<Sample> {
    if let picture: Picture<Sample> = plain(bytes, as: format) { return picture }
    return try libpng(bytes, as: format, file: file)
  }

  /// Reads a file of the usual kind in the requested format; `nil` for all others.
  static func plain<Sample: BitwiseCopyable>(
    _ bytes: [UInt8], as format: PNGFormat
  ) -> Picture<Sample>? {
    bytes.withUnsafeBytes { input in
      guard let file = PlainPNG(input, largestSide: Int(largestSide)), file.format == format,
        InputLimits.pixelsOfPicture.problem(file.width * file.height) == nil,
        file.lineBytes / largestDeflateRatio <= input.count
      else { return nil }
      let count = file.rowBytes * file.height / MemoryLayout<Sample>.stride
      // The lines are longer than the rows that replace them in the same memory.
      let capacity = file.lineBytes / MemoryLayout<Sample>.stride + 1
      var isRight = false
      let samples = [Sample](unsafeUninitializedCapacity: capacity) { samples, initialized in
        isRight = file.read(into: UnsafeMutableRawBufferPointer(samples))
        initialized = isRight ? count : 0
        if isRight, format == .gray16 {
          UnsafeMutableRawBufferPointer(samples).withMemoryRebound(to: UInt16.self) { values in
            for index in 0..<count { values[index] = UInt16(bigEndian: values[index]) }
          }
        }
      }
      return isRight ? Picture(width: file.width, height: file.height, samples: samples) : nil
    }
  }

  /// Reads any file with libpng.
  static func libpng<Sample: BitwiseCopyable>(
    _ bytes: [UInt8], as format: PNGFormat, file: FilePath?
  ) throws(ImageError) -> Picture<Sample> {
    let layout =
      switch format {
      case .rgb8: scanmill_png_rgb8
      case .gray8: scanmill_png_gray8
      case .gray16: scanmill_png_gray16
      case .rgb16: scanmill_png_rgb16
      }
    let channels = format == .rgb8 || format == .rgb16 ? 3 : 1
    do {
      return try bytes.withUnsafeBufferPointer { input in
        var message = MessageBuffer()
        var header = scanmill_png_description()
        guard
          let reader = message.fill({
            scanmill_png_open(input.baseAddress, input.count, largestSide, layout, &header, $0, $1)
          })
        else {
          throw unreadable(message.text, file: file, byteOffset: nil)
        }
        defer { scanmill_png_close(reader) }
        let width = Int(header.width)
        let height = Int(header.height)
        let bitsPerPixel = Int(header.bit_depth) * (header.color_type == 2 ? 3 : 1)
        let leastBytes = ((width * bitsPerPixel + 7) / 8 + 1) * height / largestDeflateRatio
        guard leastBytes <= input.count else {
          throw unreadable(
            "the header claims \(width)x\(height) pixels, more than the file can hold",
            file: file, byteOffset: nil)
        }
        if let problem = InputLimits.pixelsOfPicture.problem(width * height) {
          throw ImageError(file: file, what: problem)
        }
        let count = width * height * channels
        guard header.row_bytes == width * channels * MemoryLayout<Sample>.stride else {
          throw unreadable("libpng gives rows of another length", file: file, byteOffset: nil)
        }
        var status: Int32 = -1
        let samples = [Sample](unsafeUninitializedCapacity: count) { samples, initialized in
          status = message.fill {
            scanmill_png_read(
              reader, samples.baseAddress, count * MemoryLayout<Sample>.stride, $0, $1)
          }
          initialized = status == 0 ? count : 0
        }
        guard status == 0 else {
          throw unreadable(message.text, file: file, byteOffset: scanmill_png_offset(reader))
        }
        return Picture(width: width, height: height, samples: samples)
      }
    } catch let error as ImageError {
      throw error
    } catch {
      throw ImageError(file: file, what: "\(error)")
    }
  }

  private static func unreadable(_ what: String, file: FilePath?, byteOffset: Int?) -> ImageError {
    ImageError(
      file: file, what: "not readable as PNG: \(what)", byteOffset: byteOffset,
      remedy: "copy the file again, or rewrite it")
  }
}

/// A buffer for one line of text from a C function.
private struct MessageBuffer {
  private var characters = [CChar](repeating: 0, count: 160)

  mutating func fill<Result>(_ body: (UnsafeMutablePointer<CChar>?, Int) -> Result) -> Result {
    characters.withUnsafeMutableBufferPointer { body($0.baseAddress, $0.count) }
  }

  var text: String { String(terminated: characters) }
}

extension PNGReader {
  /// A 16-bit gray file of that size with the pixels of `bytes`, which are not inflated. See
  /// `bareGray8`.
  public static func bareGray16(_ bytes: [UInt8], width: Int, height: Int) -> [UInt8]? {
    bare(bytes, .gray16, width: width, height: height)
  }

  /// An 8-bit gray file of that size with the pixels of `bytes`, which are not inflated: the same
  /// header and compressed lines, without any notes. `nil` if the file is of another kind or size, or
  /// a checksum is wrong. Whether the lines can be inflated is not looked at. Cost: a checksum over
  /// the bytes, and a copy unless `bytes` have no notes.
  public static func bareGray8(_ bytes: [UInt8], width: Int, height: Int) -> [UInt8]? {
    bare(bytes, .gray8, width: width, height: height)
  }

  private static func bare(
    _ bytes: [UInt8], _ format: PNGFormat, width: Int, height: Int
  ) -> [UInt8]? {
    bytes.withUnsafeBytes { input in
      guard let file = PlainPNG(input, largestSide: max(width, height)), file.format == format,
        file.width == width, file.height == height
      else { return nil }
      return file.bare ?? bytes
    }
  }
}

extension PNGReader {
  /// As `depth(in:file:)`.
  public static func storedDepth(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> DepthImage {
    try checkGray(bytes, bitDepth: 16, file)
    return try depth(in: bytes, file: file)
  }

  /// As `gray(in:file:)`, but only for pictures whose values are stored in 8 bits: fewer bits would
  /// be scaled.
  public static func storedGray(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> GrayImage {
    try checkGray(bytes, bitDepth: 8, file)
    return try gray(in: bytes, file: file)
  }

  /// Throws unless the header states gray without alpha of that depth. A header that is cut is left
  /// to the reader.
  private static func checkGray(
    _ bytes: [UInt8], bitDepth: UInt8, _ file: FilePath?
  ) throws(ImageError) {
    guard StoredPicture(bytes)?.kind == .png else { return }
    // Behind mark, length and type, width and height.
    let (depth, color) = (bytes[24], bytes[25])
    guard depth != bitDepth || color != 0 else { return }
    let kind =
      switch color {
      case 0: "gray"
      case 3: "a palette"
      case 4: "gray with alpha"
      default: "color"
      }
    throw ImageError(
      file: file, what: "\(kind) of \(depth) bits, not gray of \(bitDepth) bits", byteOffset: 24)
  }
}

/// Reads whole small files, such as one picture.
enum FileBytes {
  /// All bytes of a regular file of at most `InputLimits.bytesOfPicture`.
  static func read(_ file: FilePath) throws(ImageError) -> [UInt8] {
    do {
      let descriptor = try EnclosedPaths.openForReading(file)
      return try descriptor.closeAfter {
        let size = try descriptor.seek(offset: 0, from: .end)
        let count = Int(clamping: size)
        if let problem = InputLimits.bytesOfPicture.problem(count) {
          throw ImageError(file: file, what: problem)
        }
        var filled = 0
        return try [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
          while filled < count {
            let rest = UnsafeMutableRawBufferPointer(
              rebasing: UnsafeMutableRawBufferPointer(bytes)[filled...])
            let step = try descriptor.read(fromAbsoluteOffset: Int64(filled), into: rest)
            if step == 0 { break }
            filled += step
            initialized = filled
          }
        }
      }
    } catch let error as ImageError {
      throw error
    } catch {
      throw ImageError(
        file: file, what: "cannot be read: \(error)",
        remedy: "check that it exists and is readable",
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
  }
}
