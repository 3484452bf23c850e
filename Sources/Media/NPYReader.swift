import Core
import SystemPackage

/// Reads NumPy's `.npy` files with depth: two dimensions, little-endian, rows first.
///
/// Sizes are compared with the file before memory is allocated. Bytes after the last row are
/// ignored, as NumPy does.
public enum NPYReader {
  /// More than any header has: NumPy pads it to a multiple of 64 bytes.
  private static let mostHeaderBytes = 65_536
  private static let magic: [UInt8] = [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]

  /// What the numbers of a file are, as its header names them.
  public enum Element: String, Sendable {
    case uint16 = "<u2"
    case float32 = "<f4"
    case float16 = "<f2"

    var byteCount: Int { self == .float32 ? 4 : 2 }

    /// As encodings name it.
    public var name: String {
      switch self {
      case .uint16: "u16"
      case .float32: "f32"
      case .float16: "f16"
      }
    }
  }

  /// Size, kind and place of a file's numbers, all of which are there.
  public struct Layout: Sendable {
    public let width: Int
    public let height: Int
    public let element: Element
    public let firstByte: Int
  }

  private static func fault(_ what: String, at offset: Int, _ file: FilePath?) -> ImageError {
    ImageError(
      file: file, what: "not readable as NPY: \(what)", byteOffset: offset,
      remedy: "copy the file again")
  }

  /// The picture of 16-bit unsigned numbers in the bytes of a file; `file` is for messages only.
  public static func depth(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> DepthImage {
    let layout = try layout(of: bytes, file: file)
    guard layout.element == .uint16 else {
      throw fault("its values are not 16-bit unsigned (<u2)", at: magic.count, file)
    }
    let count = layout.width * layout.height
    let millimeters = bytes.withUnsafeBytes { raw in
      [UInt16](unsafeUninitializedCapacity: count) { pixels, initialized in
        for index in 0..<count {
          let pixel = raw.loadUnaligned(
            fromByteOffset: layout.firstByte + layout.element.byteCount * index, as: UInt16.self)
          pixels.initializeElement(at: index, to: UInt16(littleEndian: pixel))
        }
        initialized = count
      }
    }
    return DepthImage(width: layout.width, height: layout.height, millimeters: millimeters)
  }

  /// The layout of the bytes of a file; `file` is for messages only.
  public static func layout(
    of bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> Layout {
    func fault(_ what: String, at offset: Int) -> ImageError { Self.fault(what, at: offset, file) }
    guard bytes.starts(with: magic) else { throw fault("it has no NPY mark", at: 0) }
    guard bytes.count >= 10 else { throw fault("the file ends early", at: bytes.count) }
    let start: Int
    var length = Int(bytes[8]) | Int(bytes[9]) << 8
    switch bytes[6] {
    case 1: start = 10
    case 2:
      guard bytes.count >= 12 else { throw fault("the file ends early", at: bytes.count) }
      length |= Int(bytes[10]) << 16 | Int(bytes[11]) << 24
      start = 12
    default: throw fault("version \(bytes[6]) is not known", at: 6)
    }
    guard length <= mostHeaderBytes else {
      throw fault("the header claims \(length) bytes", at: 8)
    }
    guard bytes.count - start >= length else {
      throw fault("the file ends early", at: bytes.count)
    }
    let header = String(decoding: bytes[start..<start + length], as: UTF8.self)
    guard let element = value(of: "descr", in: header).map(unquoted).flatMap(Element.init) else {
      throw fault("its values are not of the types <u2, <f4 or <f2", at: start)
    }
    guard value(of: "fortran_order", in: header) == "False" else {
      throw fault("it is not stored by rows", at: start)
    }
    guard let (rows, columns) = shape(in: header) else {
      throw fault("it does not have two dimensions", at: start)
    }
    let side = max(rows, columns)
    let product = rows.multipliedReportingOverflow(by: columns)
    let problem =
      InputLimits.sideOfPicture.problem(side)
      ?? InputLimits.pixelsOfPicture.problem(product.overflow ? .max : product.partialValue)
    if let problem { throw fault(problem, at: start) }
    let count = product.partialValue
    let first = start + length
    guard count > 0, bytes.count - first >= element.byteCount * count else {
      throw fault(
        "the header claims \(columns)x\(rows) pixels, more than the file holds", at: bytes.count)
    }
    return Layout(width: columns, height: rows, element: element, firstByte: first)
  }

  /// Rows and columns.
  private static func shape(in header: String) -> (rows: Int, columns: Int)? {
    guard let text = value(of: "shape", in: header), text.hasPrefix("("), text.hasSuffix(")") else {
      return nil
    }
    let sides = text.dropFirst().dropLast().split(separator: ",").map { trimmed($0) }
    guard sides.count == 2, let rows = Int(sides[0]), let columns = Int(sides[1]), rows > 0,
      columns > 0
    else { return nil }
    return (rows, columns)
  }

  /// The text behind a key of the header, which is a Python dictionary, up to the comma that ends it.
  private static func value(of key: String, in header: String) -> String? {
    for quote in ["'", "\""] {
      let name = quote + key + quote
      guard let found = header.firstRange(of: name) else { continue }
      let rest = header[found.upperBound...].drop { $0 == " " }
      guard rest.first == ":" else { continue }
      let text = rest.dropFirst()
      var depth = 0
      let end = text.firstIndex { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth <= 0 && (character == "," || character == "}")
      }
      return trimmed(text[..<(end ?? text.endIndex)])
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " }
    guard let last = start.lastIndex(where: { $0 != " " }) else { return "" }
    return String(start[...last])
  }

  private static func unquoted(_ text: String) -> String {
    text.filter { $0 != "'" && $0 != "\"" }
  }
}

/// IEEE 754 half-precision numbers, by arithmetic and by tables with an entry for every bit pattern.
public enum HalfFloat {
  /// The exact value of a pattern. Without instructions of newer processors the conversion of a `Float16` is a call;
  /// several of these are done at once.
  static func single(_ pattern: UInt16) -> Float {
    let magnitude = UInt32(pattern & 0x7fff)
    // 2 to the 112 is what the exponents of both formats differ by, also of numbers below the normal ones.
    let scaled = (Float(bitPattern: magnitude << 13) * 0x1p112).bitPattern
    let bits = magnitude < 0x7c00 ? scaled : magnitude << 13 | 0x7f80_0000
    return Float(bitPattern: bits | UInt32(pattern & 0x8000) << 16)
  }

  /// The exact value of each of the 65,536 patterns, infinities and NaN included. 512 KiB, built at
  /// first use in about a millisecond.
  public static let doubles: [Double] = (0...UInt16.max).map { Double(single($0)) }

  /// Each pattern, in meters, as rounded millimeters; 0 for values out of range. 128 KiB.
  public static let millimeters: [UInt16] = doubles.map { Core.millimeters(fromMeters: $0) }
}
