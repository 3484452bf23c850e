import CLZ4

/// Bare LZ4 blocks: no frame header, no size, no checksum.
public enum LZ4Block {
  /// Why a block does not decode to exactly the bytes asked for.
  public enum Failure: Error, Equatable, Sendable {
    /// The block ends inside a sequence, or a match reaches before the start.
    case invalid(inputOffset: Int)
    /// More would come out than the output holds.
    case tooLong(inputOffset: Int)
    /// The block is whole but ends before the output is full.
    case short(produced: Int)
  }

  /// Decodes `block` so that it fills `output` exactly and is used up exactly.
  ///
  /// Unlike `LZ4_decompress_safe` this does not ask for the encoder's rules about the end of a block
  /// (the last 5 bytes literals, no match in the last 12): Apple's encoder is not bound to them, and
  /// the format has a meaning without them. Bytes of a block that fails have no meaning.
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

  /// A block of `bytes` by liblz4; for synthetic captures. `nil` beyond about 2 GB.
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
