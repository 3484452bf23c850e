import Core
import SystemPackage

/// Reads depth from OpenEXR files: one part, scan lines, a channel of 16- or 32-bit floating-point numbers.
///
/// Compressions: none, run lengths, zlib per line or per 16 lines. Sizes are compared with the file before memory is
/// allocated.
public enum EXRReader {
  /// A picture of one channel.
  public struct Picture: Sendable {
    public var width: Int
    public var height: Int
    /// Row by row, from the top; NaN and infinities as stored.
    public var values: [Float]
    /// Whether the file holds 16-bit numbers.
    public var isHalf: Bool
  }

  /// The channel `R` of the bytes of a file, else `Y`, else `Z`, else the only one; `file` is for messages only.
  ///
  /// Throws for other files, and for those whose lines are not all there. Cost: one pass.
  public static func picture(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> Picture {
    let header = try EXRHeader(bytes, file: file)
    let lines = try EXRBlocks(header, bytes, file: file)
    var picture = Picture(
      width: header.width, height: header.height,
      values: [Float](repeating: 0, count: header.width * header.height),
      isHalf: header.channel.kind == .half)
    var raw: [UInt8] = []
    for block in lines.blocks {
      let count = min(header.compression.lines, header.height - block.firstRow)
      try lines.unpack(block, lines: count, into: &raw)
      for line in 0..<count {
        let start = line * header.bytesPerLine + header.channel.offset
        let row = (block.firstRow + line) * header.width
        raw.withUnsafeBytes { raw in
          for column in 0..<header.width {
            picture.values[row + column] = Self.value(raw, start, column, header.channel.kind)
          }
        }
      }
    }
    return picture
  }

  /// Width, height and kind of number, without decoding lines.
  public static func size(
    in bytes: [UInt8], file: FilePath? = nil
  ) throws(ImageError) -> (width: Int, height: Int, isHalf: Bool) {
    let header = try EXRHeader(bytes, file: file)
    return (header.width, header.height, header.channel.kind == .half)
  }

  private static func value(
    _ raw: UnsafeRawBufferPointer, _ start: Int, _ column: Int, _ kind: EXRHeader.Kind
  ) -> Float {
    switch kind {
    case .half:
      let bits = raw.loadUnaligned(fromByteOffset: start + 2 * column, as: UInt16.self)
      return Float(Float16(bitPattern: UInt16(littleEndian: bits)))
    case .float, .integer:
      let bits = raw.loadUnaligned(fromByteOffset: start + 4 * column, as: UInt32.self)
      return Float(bitPattern: UInt32(littleEndian: bits))
    }
  }
}
