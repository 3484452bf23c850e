import CLZ4

/// LZ4 blocks without frame header, size or checksum.
public enum LZ4Block {
  /// Why a block does not decode to exactly the requested number of bytes.
  public enum Failure: Error, Equatable, Sendable {
    /// The block ends inside a sequence, or a match begins before the start of the output.
    case invalid(inputOffset: Int)
    /// The data exceed the output.
    case tooLong(inputOffset: Int)
    /// The block is valid but does not fill the output.
    case short(produced: Int)
  }

  /// Decodes `block`, which must fill `output` exactly and must be consumed completely.
  ///
  /// Unlike `LZ4_decompress_safe` this does not require the encoder's rules about the end of a
  /// block (the last 5 bytes literals, no match in the last 12): Apple's encoder does not follow
  /// them, and decoding does not need them. After an error the content of the output is undefined.
  public static func decode(_ block: RawSpan, into output: inout MutableRawSpan) throws(Failure) {
    let end = block.withUnsafeBytes { block in
      output.withUnsafeMutableBytes { output in decodeLZ4(block, into: output) }
    }
    switch end {
    case .whole(let produced) where produced == output.byteCount: return
    case .whole(let produced): throw .short(produced: produced)
    case .invalid(let offset): throw .invalid(inputOffset: offset)
    case .tooLong(let offset): throw .tooLong(inputOffset: offset)
    }
  }

  /// Encodes `bytes` with liblz4; for synthetic captures. `nil` above about 2 GB.
  public static func encode(_ bytes: RawSpan) -> [UInt8]? {
    guard bytes.byteCount <= Int(LZ4_MAX_INPUT_SIZE) else { return nil }
    let bound = Int(LZ4_compressBound(Int32(bytes.byteCount)))
    var block = [UInt8](repeating: 0, count: bound)
    let count = bytes.withUnsafeBytes { bytes in
      block.withUnsafeMutableBytes { block in
        LZ4_compress_default(
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          block.baseAddress?.assumingMemoryBound(to: CChar.self),
          Int32(bytes.count), Int32(bound))
      }
    }
    guard count > 0 else { return nil }
    block.removeLast(bound - Int(count))
    return block
  }
}
