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
    try decoded(FileBytes.read(file), file, isStrict: false)
  }

  /// Reads the bytes of a whole file as `read(_:)` does, but throws also for a JPEG of which a part
  /// cannot be decoded.
  public static func readWhole(
    _ bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> StillImage {
    _ = try ImageHeader(bytes, file: file)
    return try decoded(bytes, file, isStrict: true)
  }

  private static func decoded(
    _ bytes: [UInt8], _ file: FilePath?, isStrict: Bool
  ) throws(ImageError) -> StillImage {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      return StillImage(picture: try PNGReader.color(in: bytes, file: file), exifOrientation: 1)
    }
    guard bytes.starts(with: [0xFF, 0xD8]) else {
      throw ImageError(file: file, what: "neither a JPEG nor a PNG file", byteOffset: 0)
    }
    return StillImage(
      picture: try JPEGReader.color(in: bytes, file: file, isStrict: isStrict),
      exifOrientation: orientation(ofJPEG: bytes) ?? 1)
  }

  /// Throws unless `readWhole` can read these bytes. Cost: for a JPEG its entropy decoding, about a
  /// third of reading it; for a PNG as much as reading it.
  public static func check(
    _ bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> Header {
    let header = try Header(bytes, file)
    if header.isJPEG {
      // Scaled down, every coefficient is decoded all the same.
      _ = try JPEGReader.color(in: bytes, file: file, isStrict: true, eighths: 1)
    } else {
      _ = try PNGReader.color(in: bytes, file: file)
    }
    return header
  }

  /// What the header of a photograph states.
  public struct Header: Sendable {
    public var isJPEG: Bool
    public var storedWidth: Int
    public var storedHeight: Int
    /// EXIF Orientation, 1…8; 1 if the file states none.
    public var exifOrientation: Int

    fileprivate init(_ bytes: [UInt8], _ file: FilePath?) throws(ImageError) {
      let head = try ImageHeader(bytes, file: file)
      isJPEG = head.kind == .jpeg
      (storedWidth, storedHeight) = (head.width, head.height)
      exifOrientation = isJPEG ? StillImage.orientation(ofJPEG: bytes) ?? 1 : 1
    }

    /// Width and height of the upright picture.
    public var uprightSize: PictureSize { exifOrientation >= 5 ? storedSize.turned : storedSize }

    public var storedSize: PictureSize { PictureSize(width: storedWidth, height: storedHeight) }
  }

  /// The EXIF Orientation in the first bytes of a JPEG file, 1…8; 1 if it states none, `nil` for other files. An EXIF
  /// segment and what stands before it have less than `headBytes`.
  public static func orientation(inHead bytes: [UInt8]) -> Int? {
    bytes.starts(with: [0xFF, 0xD8]) ? orientation(ofJPEG: bytes) ?? 1 : nil
  }

  public static let headBytes = 80 << 10

  /// Reads size and orientation, and checks that the file is complete and within the limits
  /// (`InputLimits`). Decodes nothing. Throws `ImageError`. Cost: reading the file and a pass over
  /// its bytes.
  public static func header(_ file: FilePath) throws(ImageError) -> Header {
    try Header(FileBytes.read(file), file)
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

extension StillImage {
  /// The Orientation tag of a JPEG file's EXIF segment, 1…8; `nil` if the file has none or it is damaged. Every offset is
  /// checked. Cost: one walk over the segments before the picture data.
  private static func orientation(ofJPEG jpeg: [UInt8]) -> Int? {
    var position = 2
    while position + 4 <= jpeg.count, jpeg[position] == 0xFF {
      let marker = jpeg[position + 1]
      if marker == 0xFF {
        position += 1
        continue
      }
      if marker == 0xDA || marker == 0xD9 { return nil }
      let length = Int(jpeg[position + 2]) << 8 | Int(jpeg[position + 3])
      guard length >= 2, position + 2 + length <= jpeg.count else { return nil }
      let segment = jpeg[(position + 4)..<(position + 2 + length)]
      if marker == 0xE1, segment.starts(with: Array("Exif\0\0".utf8)) {
        return orientation(ofTIFF: Array(segment.dropFirst(6)))
      }
      position += 2 + length
    }
    return nil
  }

  private static func orientation(ofTIFF bytes: [UInt8]) -> Int? {
    let isLittleEndian: Bool
    if bytes.starts(with: Array("II".utf8)) {
      isLittleEndian = true
    } else if bytes.starts(with: Array("MM".utf8)) {
      isLittleEndian = false
    } else {
      return nil
    }
    func number(at offset: Int, bytes count: Int) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      let digits = bytes[offset..<(offset + count)]
      return (isLittleEndian ? Array(digits.reversed()) : Array(digits))
        .reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2)
    else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + index * 12
      guard let tag = number(at: entry, bytes: 2) else { return nil }
      // 0x0112 = Orientation, a 16-bit number in the entry itself.
      if tag == 0x0112, let value = number(at: entry + 8, bytes: 2), (1...8).contains(value) {
        return value
      }
    }
    return nil
  }
}

extension ColorImage {
  /// The picture turned as EXIF Orientation 1…8 requires; other values count as 1.
  ///
  /// 2 and 4 mirror, 3 turns by 180°, 6 and 8 turn by 90° clockwise and counterclockwise, 5 and 7
  /// do both. Cost: one pass.
  public func upright(exifOrientation: Int) -> ColorImage {
    guard (2...8).contains(exifOrientation) else { return self }
    let isSideways = exifOrientation >= 5
    var result =
      isSideways
      ? ColorImage(width: height, height: width) : ColorImage(width: width, height: height)
    for y in 0..<result.height {
      for x in 0..<result.width {
        let (column, row) = source(x, y, exifOrientation)
        let from = (row * width + column) * 3
        let to = (y * result.width + x) * 3
        result.rgb[to] = rgb[from]
        result.rgb[to + 1] = rgb[from + 1]
        result.rgb[to + 2] = rgb[from + 2]
      }
    }
    return result
  }

  /// The stored pixel that is displayed at (x, y).
  private func source(_ x: Int, _ y: Int, _ orientation: Int) -> (column: Int, row: Int) {
    switch orientation {
    case 2: (width - 1 - x, y)
    case 3: (width - 1 - x, height - 1 - y)
    case 4: (x, height - 1 - y)
    case 5: (y, x)
    case 6: (y, height - 1 - x)
    case 7: (width - 1 - y, height - 1 - x)
    default: (width - 1 - y, x)
    }
  }
}
