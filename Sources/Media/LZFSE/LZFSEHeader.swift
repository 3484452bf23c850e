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
