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

/// Decodes the blocks of one stream one after the other.
struct LZFSEDecoder {
  private let input: UnsafeRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer
  private var at = 0
  private var produced = 0
  /// Made for the first entropy-coded block, used again for the following ones.
  private var workspace: LZFSEWorkspace?

  init(input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) {
    self.input = input
    self.output = output
  }

  mutating func decode() throws(LZFSEError) {
    while true {
      let start = at
      guard let block = LZFSEBlock(rawValue: try number(at: start)) else {
        throw LZFSEError(byteOffset: start, what: "no block of an LZFSE stream")
      }
      switch block {
      case .end:
        guard produced == output.count else {
          throw LZFSEError(
            byteOffset: start,
            what: "the stream ends after \(produced) of \(output.count) bytes")
        }
        return
      case .raw: try decodeRaw(start)
      case .lzvn: try decodeLZVN(start)
      case .plainTables: try decodeCoded(start, LZFSEHeader(plain: input, at: start))
      case .packedTables: try decodeCoded(start, LZFSEHeader(packed: input, at: start))
      }
    }
  }

  private func number(at offset: Int) throws(LZFSEError) -> UInt32 {
    guard input.count - offset >= 4 else {
      throw LZFSEError(byteOffset: offset, what: "the stream ends inside a block")
    }
    return UInt32(littleEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The output of a block that states its size.
  private func target(for rawCount: UInt32, of start: Int) throws(LZFSEError)
    -> UnsafeMutableRawBufferPointer
  {
    guard Int(rawCount) <= output.count - produced else {
      throw LZFSEError(byteOffset: start, what: "the stream holds more than \(output.count) bytes")
    }
    return UnsafeMutableRawBufferPointer(rebasing: output[..<(produced + Int(rawCount))])
  }

  private func payload(_ count: Int, at offset: Int) throws(LZFSEError) -> UnsafeRawBufferPointer {
    guard count <= input.count - offset else {
      throw LZFSEError(byteOffset: input.count, what: "the stream ends inside a block")
    }
    return UnsafeRawBufferPointer(rebasing: input[offset..<(offset + count)])
  }

  private mutating func decodeRaw(_ start: Int) throws(LZFSEError) {
    let rawCount = try number(at: start + 4)
    let target = try target(for: rawCount, of: start)
    let bytes = try payload(Int(rawCount), at: start + 8)
    UnsafeMutableRawBufferPointer(rebasing: target[produced...]).copyMemory(from: bytes)
    produced += bytes.count
    at = start + 8 + bytes.count
  }

  private mutating func decodeLZVN(_ start: Int) throws(LZFSEError) {
    let target = try target(for: try number(at: start + 4), of: start)
    let bytes = try payload(Int(try number(at: start + 8)), at: start + 12)
    if let wrong = decodeLZVNBlock(bytes, into: target, from: produced) {
      throw LZFSEError(byteOffset: start + 12 + wrong, what: "an LZVN block is damaged")
    }
    produced = target.count
    at = start + 12 + bytes.count
  }

  private mutating func decodeCoded(
    _ start: Int, _ header: LZFSEHeader?
  ) throws(LZFSEError) {
    guard let header else {
      throw LZFSEError(byteOffset: start, what: "the header of a block is cut or damaged")
    }
    let target = try target(for: header.rawCount, of: start)
    let begin = start + header.count
    _ = try payload(header.payloadCount, at: begin)
    let workspace = self.workspace ?? LZFSEWorkspace()
    self.workspace = workspace
    guard workspace.decode(header, input, at: begin, into: target, from: produced) else {
      throw LZFSEError(byteOffset: start, what: "a block is damaged")
    }
    produced = target.count
    at = begin + header.payloadCount
  }
}

/// Decodes an LZVN block, which must fill the rest of `output` exactly.
///
/// - Parameters:
///   - input: the payload, with its end mark.
///   - output: everything decoded so far, and memory for this block; matches may lie in earlier blocks.
///   - produced: how much of `output` was decoded before.
/// - Returns: where the payload is wrong, in bytes from its start; `nil` when all is well.
func decodeLZVNBlock(
  _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
  from produced: Int
) -> Int? {
  guard let source = input.baseAddress, let start = output.baseAddress else { return 0 }
  let end = input.count
  let outputEnd = output.count
  var at = 0
  var out = produced
  var distance = 0
  while at < end {
    let code = Int(source.load(fromByteOffset: at, as: UInt8.self))
    let codeAt = at
    var literals = code >> 6
    var length = ((code >> 3) & 7) &+ 3
    let codeCount: Int
    // Each form of a code, by its leading bits.
    switch code {
    case 0x06:
      return out == outputEnd ? nil : codeAt
    case 0x0e, 0x16:
      at &+= 1
      continue
    case 0xf0: (literals, codeCount) = (0, 2)
    case 0xf1...0xff: (literals, length, codeCount) = (0, code & 15, 1)
    case 0xe0: (length, codeCount) = (0, 2)
    case 0xe1...0xef: (literals, length, codeCount) = (code & 15, 0, 1)
    case 0x70...0x7f, 0xd0...0xdf: return codeAt
    case 0xa0...0xbf: (literals, codeCount) = ((code >> 3) & 3, 3)
    default:
      switch code & 7 {
      case 7: codeCount = 3
      case 6:
        guard code >= 0x40 else { return codeAt }
        codeCount = 1
      default: codeCount = 2
      }
    }
    guard codeCount <= end &- at else { return codeAt }
    switch code {
    case 0xf0: length = Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self)) &+ 16
    case 0xe0: literals = Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self)) &+ 16
    case 0xe1...0xff: break
    case 0xa0...0xbf:
      let more = Int(
        UInt16(littleEndian: source.loadUnaligned(fromByteOffset: at &+ 1, as: UInt16.self)))
      length = ((code & 7) << 2 | (more & 3)) &+ 3
      distance = more >> 2
    default:
      switch codeCount {
      case 3:
        distance = Int(
          UInt16(littleEndian: source.loadUnaligned(fromByteOffset: at &+ 1, as: UInt16.self)))
      case 2:
        distance =
          (code & 7) << 8 | Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self))
      default: break
      }
    }
    at &+= codeCount
    guard literals <= end &- at, literals &+ length <= outputEnd &- out else { return codeAt }
    guard length == 0 || (distance > 0 && distance <= out &+ literals) else { return codeAt }
    (start + out).copyMemory(from: source + at, byteCount: literals)
    at &+= literals
    out &+= literals
    if length > 0 {
      copyLZFSEMatch(
        start + out, distance: distance, length: length,
        mayOverrun: outputEnd &- out &- length >= 64)
      out &+= length
    }
  }
  return end
}

/// Why an LZFSE stream cannot be decoded.
public struct LZFSEError: Error, Hashable, Sendable {
  /// Where in the input, in bytes from its start: the block or the code that is wrong.
  public var byteOffset: Int
  /// One phrase, as `the stream ends inside a block`.
  public var what: String
}
