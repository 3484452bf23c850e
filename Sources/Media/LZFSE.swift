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
    try input.withUnsafeBytes { (input) throws(LZFSEError) in
      try output.withUnsafeMutableBytes { (output) throws(LZFSEError) in
        var decoder = LZFSEDecoder(input: input, output: output)
        try decoder.decode()
      }
    }
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
  let input: UnsafeRawBufferPointer
  let output: UnsafeMutableRawBufferPointer
  private(set) var at = 0
  private(set) var produced = 0
  /// Made for the first entropy-coded block, used again for the following ones.
  private(set) var workspace: LZFSEWorkspace?

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
public struct LZFSEError: Error, Hashable {
  /// Where in the input, in bytes from its start: the block or the code that is wrong.
  public var byteOffset: Int
  /// One phrase, as `the stream ends inside a block`.
  public var what: String
}

/// The header of an entropy-coded block, checked: counts within the limits of the format, states within their tables.
struct LZFSEHeader {
  /// Numbers of the values that are coded: literal lengths, match lengths, distances, literals.
  static let lengthSymbols = 20
  static let distanceSymbols = 64
  static let literalSymbols = 256
  /// Numbers of states of their tables; the frequencies of a table add up to at most that many.
  static let lengthStates = 64
  static let distanceStates = 256
  static let literalStates = 1024
  /// The most that one block holds.
  static let mostMatches = 10_000
  static let mostLiterals = 40_000

  private static let allSymbols = 2 * lengthSymbols + distanceSymbols + literalSymbols
  /// Magic number, size, three packed numbers of 64 bits.
  private static let packedStart = 32
  /// With two bytes that align the structure.
  private static let plainCount = 772

  /// Bytes of the header itself.
  let count: Int
  /// Bytes that the block decodes to.
  let rawCount: UInt32
  let literals: Int
  let matches: Int
  let literalPayload: Int
  let matchPayload: Int
  /// Unused bits at the end of the two payloads, negative: -7…0.
  let literalBits: Int
  let matchBits: Int
  let literalStart: (Int, Int, Int, Int)
  let literalLengthStart: Int
  let matchLengthStart: Int
  let distanceStart: Int
  /// Frequencies of literal lengths, match lengths, distances and literals, in this order.
  private let frequencies: [UInt16]

  var payloadCount: Int { literalPayload + matchPayload }
  var literalLengthFrequencies: ArraySlice<UInt16> { frequencies[0..<20] }
  var matchLengthFrequencies: ArraySlice<UInt16> { frequencies[20..<40] }
  var distanceFrequencies: ArraySlice<UInt16> { frequencies[40..<104] }
  var literalFrequencies: ArraySlice<UInt16> { frequencies[104..<360] }

  /// `nil`: cut, or a value that the format does not allow.
  init?(packed input: UnsafeRawBufferPointer, at start: Int) {
    guard input.count - start >= Self.packedStart else { return nil }
    func field(_ number: Int) -> UInt64 {
      UInt64(
        littleEndian: input.loadUnaligned(
          fromByteOffset: start + 8 + 8 * number, as: UInt64.self))
    }
    let packed = [field(0), field(1), field(2)]
    func value(_ number: Int, _ offset: Int, _ bits: Int) -> Int {
      Int((packed[number] >> UInt64(offset)) & ((1 << UInt64(bits)) - 1))
    }
    let headerCount = value(2, 0, 32)
    guard headerCount >= Self.packedStart, headerCount <= input.count - start,
      headerCount <= Self.packedStart + 2 * Self.allSymbols,
      let frequencies = Self.frequencies(
        UnsafeRawBufferPointer(
          rebasing: input[(start + Self.packedStart)..<(start + headerCount)]))
    else { return nil }
    count = headerCount
    rawCount = UInt32(
      littleEndian: input.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self))
    literals = value(0, 0, 20)
    literalPayload = value(0, 20, 20)
    matches = value(0, 40, 20)
    literalBits = value(0, 60, 3) - 7
    literalStart = (value(1, 0, 10), value(1, 10, 10), value(1, 20, 10), value(1, 30, 10))
    matchPayload = value(1, 40, 20)
    matchBits = value(1, 60, 3) - 7
    literalLengthStart = value(2, 32, 10)
    matchLengthStart = value(2, 42, 10)
    distanceStart = value(2, 52, 10)
    self.frequencies = frequencies
    guard isValid else { return nil }
  }

  /// Reads the header of the form without packing.
  init?(plain input: UnsafeRawBufferPointer, at start: Int) {
    guard input.count - start >= Self.plainCount else { return nil }
    func long(_ offset: Int) -> UInt32 {
      UInt32(littleEndian: input.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self))
    }
    func short(_ offset: Int) -> Int {
      Int(
        UInt16(littleEndian: input.loadUnaligned(fromByteOffset: start + offset, as: UInt16.self)))
    }
    count = Self.plainCount
    rawCount = long(4)
    literals = Int(long(12))
    matches = Int(long(16))
    literalPayload = Int(long(20))
    matchPayload = Int(long(24))
    literalBits = Int(Int32(bitPattern: long(28)))
    literalStart = (short(32), short(34), short(36), short(38))
    matchBits = Int(Int32(bitPattern: long(40)))
    literalLengthStart = short(44)
    matchLengthStart = short(46)
    distanceStart = short(48)
    frequencies = (0..<Self.allSymbols).map { UInt16(short(50 + 2 * $0)) }
    guard Int(long(8)) == literalPayload + matchPayload, isValid else { return nil }
  }

  private var isValid: Bool {
    let (a, b, c, d) = literalStart
    return literals <= Self.mostLiterals && matches <= Self.mostMatches
      && (-7...0).contains(literalBits) && (-7...0).contains(matchBits)
      && max(a, b, c, d) < Self.literalStates
      && max(literalLengthStart, matchLengthStart) < Self.lengthStates
      && distanceStart < Self.distanceStates
  }

  /// How many bits the code of a frequency has, by its lowest five bits.
  private static let codeBits: [Int] = [
    2, 3, 2, 5, 2, 3, 2, 8, 2, 3, 2, 5, 2, 3, 2, 14,
    2, 3, 2, 5, 2, 3, 2, 8, 2, 3, 2, 5, 2, 3, 2, 14,
  ]
  /// The frequency of codes of up to five bits.
  private static let codeValues: [UInt16] = [
    0, 2, 1, 4, 0, 3, 1, 0, 0, 2, 1, 5, 0, 3, 1, 0,
    0, 2, 1, 6, 0, 3, 1, 0, 0, 2, 1, 7, 0, 3, 1, 0,
  ]

  /// Unpacks the frequencies. `nil` unless the codes fill the bytes exactly, but for less than a byte.
  private static func frequencies(_ bytes: UnsafeRawBufferPointer) -> [UInt16]? {
    // The reference decoder takes no codes for zeros.
    if bytes.isEmpty { return [UInt16](repeating: 0, count: allSymbols) }
    var isWhole = false
    let frequencies = [UInt16](unsafeUninitializedCapacity: allSymbols) { frequencies, count in
      count = allSymbols
      isWhole = codeBits.withUnsafeBufferPointer { codeBits in
        codeValues.withUnsafeBufferPointer { codeValues in
          var at = 0
          var bits: UInt32 = 0
          var available = 0
          for symbol in 0..<allSymbols {
            while at < bytes.count, available <= 24 {
              bits |= UInt32(bytes[at]) &<< UInt32(truncatingIfNeeded: available)
              available &+= 8
              at &+= 1
            }
            let low = Int(bits & 31)
            let used = codeBits[low]
            frequencies[symbol] =
              switch used {
              case 8: 8 + UInt16((bits >> 4) & 15)
              case 14: 24 + UInt16((bits >> 4) & 1023)
              default: codeValues[low]
              }
            available &-= used
            if available < 0 {
              frequencies[symbol...].update(repeating: 0)
              return false
            }
            bits &>>= UInt32(truncatingIfNeeded: used)
          }
          return available < 8 && at == bytes.count
        }
      }
    }
    return isWhole ? frequencies : nil
  }
}
