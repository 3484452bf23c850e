/// Apple's LZFSE: a stream of blocks, each with a magic number of four bytes.
///
/// The forms are those of the reference encoder and decoder (github.com/lzfse/lzfse): raw bytes (`bvx-`), LZVN
/// (`bvxn`), and entropy-coded blocks with plain (`bvx1`) or packed tables (`bvx2`); `bvx$` ends the stream. All numbers
/// are little-endian.
public enum LZFSE {
  /// Decodes a whole stream of known size.
  ///
  /// - Parameters:
  ///   - input: the stream; bytes after its end mark are ignored.
  ///   - output: filled completely. Its size is the size that the stream must have.
  /// - Throws: `LZFSEError` for a stream that is cut, damaged, or of another size; `output` then holds what was decoded
  ///   before. Nothing outside of the two buffers is read or written, whatever the stream says.
  ///
  /// Cost: one pass; 48 KB of working memory. May be called from many threads.
  public static func decode(
    _ input: RawSpan, into output: inout MutableRawSpan
  ) throws(LZFSEError) {
    let result: Result<Void, LZFSEError> = input.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { output in
        var decoder = LZFSEDecoder(input: input, output: output)
        do throws(LZFSEError) {
          try decoder.decode()
          return .success(())
        } catch {
          return .failure(error)
        }
      }
    }
    try result.get()
  }

  /// Whether bytes begin like a stream.
  public static func isStream(_ bytes: RawSpan) -> Bool {
    bytes.byteCount >= 4
      && LZFSEBlock(
        rawValue: UInt32(littleEndian: bytes.unsafeLoadUnaligned(as: UInt32.self))) != nil
  }
}

/// The magic number of a block, as a little-endian number.
enum LZFSEBlock: UInt32 {
  /// `bvx-`: the number of bytes, then the bytes.
  case raw = 0x2d78_7662
  /// `bvx1`: tables of 16-bit frequencies.
  case plainTables = 0x3178_7662
  /// `bvx2`: packed tables.
  case packedTables = 0x3278_7662
  /// `bvxn`: LZVN.
  case lzvn = 0x6e78_7662
  /// `bvx$`: the end of the stream.
  case end = 0x2478_7662
}
