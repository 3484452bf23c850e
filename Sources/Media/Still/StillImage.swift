import CJPEG
import Core
import SystemPackage

/// A photograph as stored, and its orientation.
public struct StillImage: Sendable {
  public var picture: ColorImage
  /// EXIF Orientation, 1…8; 1 if the file states none.
  public var exifOrientation: Int

  /// The picture turned upright.
  public var upright: ColorImage { picture.upright(exifOrientation: exifOrientation) }

  /// Reads a JPEG or PNG file; the kind is known by its first bytes, not by its name.
  ///
  /// The part of a damaged JPEG that cannot be decoded is gray. Throws `ImageError` for other
  /// files, for empty ones, and for those of which nothing can be decoded; also, before anything is
  /// decoded, for pictures above the limits on pixels and scans (`InputLimits`).
  public static func read(_ file: FilePath) throws(ImageError) -> StillImage {
    let bytes = try FileBytes.read(file)
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      return StillImage(picture: try PNGReader.color(in: bytes, file: file), exifOrientation: 1)
    }
    guard bytes.starts(with: [0xFF, 0xD8]) else {
      throw ImageError(file: file, what: "neither a JPEG nor a PNG file", byteOffset: 0)
    }
    return StillImage(
      picture: try JPEGReader.color(in: bytes, file: file),
      exifOrientation: EXIFOrientation.find(in: bytes) ?? 1)
  }

  /// Reads the bytes of a whole file as `read(_:)` does, but throws also for a JPEG of which a part
  /// cannot be decoded.
  public static func readWhole(
    _ bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> StillImage {
    let head = try ImageHeader(bytes, file: file)
    guard head.kind == .jpeg else {
      return StillImage(picture: try PNGReader.color(in: bytes, file: file), exifOrientation: 1)
    }
    return StillImage(
      picture: try JPEGReader.color(in: bytes, file: file, isStrict: true),
      exifOrientation: EXIFOrientation.find(in: bytes) ?? 1)
  }

  /// Throws unless `readWhole` can read these bytes. Cost: for a JPEG its entropy decoding, about a
  /// third of reading it; for a PNG as much as reading it.
  public static func check(
    _ bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> Header {
    let head = try ImageHeader(bytes, file: file)
    let isJPEG = head.kind == .jpeg
    if isJPEG {
      // Scaled down, every coefficient is decoded all the same.
      _ = try JPEGReader.color(in: bytes, file: file, isStrict: true, eighths: 1)
    } else {
      _ = try PNGReader.color(in: bytes, file: file)
    }
    return Header(
      isJPEG: isJPEG, storedWidth: head.width, storedHeight: head.height,
      exifOrientation: isJPEG ? EXIFOrientation.find(in: bytes) ?? 1 : 1)
  }

  /// What the header of a photograph states.
  public struct Header: Sendable {
    public var isJPEG: Bool
    public var storedWidth: Int
    public var storedHeight: Int
    /// EXIF Orientation, 1…8; 1 if the file states none.
    public var exifOrientation: Int

    /// Width and height of the upright picture.
    public var uprightSize: (width: Int, height: Int) {
      exifOrientation >= 5 ? (storedHeight, storedWidth) : (storedWidth, storedHeight)
    }
  }

  /// The EXIF Orientation in the first bytes of a JPEG file, 1…8; 1 if it states none, `nil` for other files. An EXIF
  /// segment and what stands before it have less than `headBytes`.
  public static func orientation(inHead bytes: [UInt8]) -> Int? {
    bytes.starts(with: [0xFF, 0xD8]) ? EXIFOrientation.find(in: bytes) ?? 1 : nil
  }

  public static let headBytes = 80 << 10

  /// Reads size and orientation, and checks that the file is complete and within the limits
  /// (`InputLimits`). Decodes nothing. Throws `ImageError`. Cost: reading the file and a pass over
  /// its bytes.
  public static func header(_ file: FilePath) throws(ImageError) -> Header {
    let bytes = try FileBytes.read(file)
    let head = try ImageHeader(bytes, file: file)
    let isJPEG = head.kind == .jpeg
    return Header(
      isJPEG: isJPEG, storedWidth: head.width, storedHeight: head.height,
      exifOrientation: isJPEG ? EXIFOrientation.find(in: bytes) ?? 1 : 1)
  }
}

/// Reads JPEG files with libjpeg-turbo.
enum JPEGReader {
  /// - Parameters:
  ///   - isStrict: whether parts that cannot be decoded are an error; otherwise they are gray.
  ///   - eighths: the scale of the result, 1 or 8.
  static func color(
    in bytes: [UInt8], file: FilePath?, isStrict: Bool = false, eighths: Int = 8
  ) throws(ImageError) -> ColorImage {
    guard let handle = tjInitDecompress() else {
      throw ImageError(file: file, what: "no memory for a JPEG decoder")
    }
    defer { tjDestroy(handle) }
    _ = try ImageHeader(bytes, file: file)
    let (storedWidth, storedHeight) = try size(of: bytes, handle, file)
    try ImageHeader.check(
      width: storedWidth, height: storedHeight, ofFileBytes: bytes.count, kind: .jpeg, file: file)
    let (width, height) = ((storedWidth * eighths + 7) / 8, (storedHeight * eighths + 7) / 8)
    var image = ColorImage(width: width, height: height)
    let status = tjDecompress2(
      handle, bytes, UInt(bytes.count), &image.rgb, Int32(width), Int32(width * 3), Int32(height),
      Int32(TJPF_RGB.rawValue), Int32(TJFLAG_ACCURATEDCT))
    // A warning means that the picture was decoded and parts of it are made up.
    let isPatched = status != 0 && tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue)
    guard status == 0 || isPatched && !isStrict else {
      throw ImageError(file: file, what: "JPEG: \(String(cString: tjGetErrorStr2(handle)))")
    }
    return image
  }

  private static func size(
    of bytes: [UInt8], _ handle: UnsafeMutableRawPointer, _ file: FilePath?
  ) throws(ImageError) -> (width: Int, height: Int) {
    var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    let status = tjDecompressHeader3(
      handle, bytes, UInt(bytes.count), &width, &height, &sampling, &space)
    guard status == 0, width > 0, height > 0 else {
      throw ImageError(
        file: file, what: "not a JPEG picture: \(String(cString: tjGetErrorStr2(handle)))",
        byteOffset: 0)
    }
    return (Int(width), Int(height))
  }
}
