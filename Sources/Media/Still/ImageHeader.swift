import CDeflate
import Core
import SystemPackage

/// What the header of a picture file states, and whether the file is complete. Nothing is decoded.
struct ImageHeader {
  var kind: StoredPicture.Kind
  var width: Int
  var height: Int
  /// Number of passes over the picture that decoding needs.
  var scans = 1

  /// Reads `bytes`, a whole file, and checks every limit.
  ///
  /// Throws for other kinds of files, for pictures that exceed the limits or cannot fit the file,
  /// for JPEG files with too many scans, and for PNG files with a damaged or missing chunk. Cost: a
  /// pass over the bytes.
  init(_ bytes: [UInt8], file: FilePath?) throws(ImageError) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      try self.init(png: bytes, file)
    } else if bytes.starts(with: [0xFF, 0xD8]) {
      try self.init(jpeg: bytes, file)
    } else {
      throw ImageError(file: file, what: "neither a JPEG nor a PNG file", byteOffset: 0)
    }
  }

  /// Throws for a picture that exceeds the limits or cannot fit a file of that size.
  static func check(
    width: Int, height: Int, ofFileBytes count: Int, kind: StoredPicture.Kind, file: FilePath?
  ) throws(ImageError) {
    guard width > 0, height > 0 else {
      throw ImageError(file: file, what: "a picture of \(width)x\(height) pixels", byteOffset: 0)
    }
    let problem =
      InputLimits.sideOfPicture.problem(max(width, height))
      ?? InputLimits.pixelsOfPicture.problem(
        width.multipliedReportingOverflow(by: height).partialValue)
    if let problem { throw ImageError(file: file, what: problem, byteOffset: 0) }
    // A progressive scan takes at least one bit per block of 64 pixels. Small pictures are
    // excepted, because they may be cut.
    if kind == .jpeg, width * height > 512 * count + 1 << 24 {
      throw ImageError(
        file: file,
        what: "the header claims \(width)x\(height) pixels, more than \(count) bytes can hold",
        byteOffset: 0, remedy: "copy the file again")
    }
  }

  private init(png bytes: [UInt8], _ file: FilePath?) throws(ImageError) {
    kind = .png
    func number(_ offset: Int) -> Int {
      bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    (width, height) = (0, 0)
    var offset = 8
    while bytes.count - offset >= 12 {
      let length = number(offset)
      guard length <= bytes.count - offset - 12 else { break }
      let type = Array(bytes[offset + 4..<offset + 8])
      let end = offset + 8 + length
      let sum = bytes.withUnsafeBytes {
        libdeflate_crc32(0, $0.baseAddress.map { $0 + offset + 4 }, length + 4)
      }
      guard Int(sum) == number(end) else {
        throw ImageError(
          file: file, what: "not readable as PNG: a checksum does not match", byteOffset: offset,
          remedy: "copy the file again, or rewrite it")
      }
      if offset == 8 {
        guard type == Array("IHDR".utf8), length == 13 else { break }
        (width, height) = (number(16), number(20))
        try Self.check(
          width: width, height: height, ofFileBytes: bytes.count, kind: .png, file: file)
      } else if type == Array("IEND".utf8) {
        return
      }
      offset = end + 4
    }
    throw ImageError(
      file: file, what: "not readable as PNG: the file ends early", byteOffset: offset,
      remedy: "copy the file again, or rewrite it")
  }

  private init(jpeg bytes: [UInt8], _ file: FilePath?) throws(ImageError) {
    kind = .jpeg
    (width, height) = (0, 0)
    scans = 0
    var offset = 2
    while offset + 1 < bytes.count {
      guard bytes[offset] == 0xFF else {
        // Inside a scan: skip to the next marker.
        guard let next = bytes[offset...].firstIndex(of: 0xFF) else { break }
        offset = next
        continue
      }
      let marker = bytes[offset + 1]
      switch marker {
      case 0xFF: offset += 1
      case 0x00, 0x01, 0xD0...0xD8: offset += 2
      case 0xD9: offset = bytes.count
      default:
        guard offset + 4 <= bytes.count else {
          offset = bytes.count
          continue
        }
        let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
        if 0xC0...0xCF ~= marker, ![0xC4, 0xC8, 0xCC].contains(marker), offset + 9 <= bytes.count {
          height = Int(bytes[offset + 5]) << 8 | Int(bytes[offset + 6])
          width = Int(bytes[offset + 7]) << 8 | Int(bytes[offset + 8])
          try Self.check(
            width: width, height: height, ofFileBytes: bytes.count, kind: .jpeg, file: file)
        }
        if marker == 0xDA {
          scans += 1
          let problem =
            InputLimits.scansOfJPEG.problem(scans)
            ?? InputLimits.scannedPixelsOfJPEG.problem(scans * width * height)
          if let problem { throw ImageError(file: file, what: problem, byteOffset: offset) }
        }
        offset += 2 + max(2, length)
      }
    }
    guard width > 0, scans > 0 else {
      throw ImageError(
        file: file, what: "not a JPEG picture: \(width > 0 ? "no picture data" : "no size") in it",
        byteOffset: 0)
    }
  }
}

/// The pixel format in the header of a PNG or JPEG file. Nothing is checked or decoded. Cost: a
/// walk over the segments before the picture.
public struct StoredPicture: Hashable, Sendable {
  public enum Kind: Sendable { case png, jpeg }

  public var kind: Kind
  public var width: Int
  public var height: Int
  public var bitDepth: Int
  /// Number of channels: 1 gray, 3 color; palettes count as 1, alpha as one more.
  public var channels: Int

  /// `nil` for other files, and for those that end within the header.
  public init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), bytes.count >= 26 {
      func number(_ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      }
      kind = .png
      (width, height) = (number(16), number(20))
      bitDepth = Int(bytes[24])
      // Color types of PNG: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha.
      switch bytes[25] {
      case 2: channels = 3
      case 4: channels = 2
      case 6: channels = 4
      default: channels = 1
      }
      return
    }
    guard bytes.starts(with: [0xFF, 0xD8]), let frame = Self.startOfFrame(bytes) else { return nil }
    kind = .jpeg
    bitDepth = Int(bytes[frame])
    height = Int(bytes[frame + 1]) << 8 | Int(bytes[frame + 2])
    width = Int(bytes[frame + 3]) << 8 | Int(bytes[frame + 4])
    channels = Int(bytes[frame + 5])
  }

  /// Offset of a JPEG file's depth, height, width and channels: six bytes, all present.
  private static func startOfFrame(_ bytes: [UInt8]) -> Int? {
    var offset = 2
    while offset + 10 <= bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      switch marker {
      case 0xFF: offset += 1
      case 0x01, 0xD0...0xD8: offset += 2
      case 0xD9, 0xDA: return nil
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker): return offset + 4
      default: offset += 2 + max(2, Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
      }
    }
    return nil
  }
}
