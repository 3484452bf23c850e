/// The parts of an H.264 sequence parameter set (ITU-T H.264, 7.3.2.1.1) that concern order, size
/// and color.
struct H264Sequence: Hashable {
  /// How display order is coded.
  enum Order: Hashable {
    /// By the low bits of a count in every picture.
    case counted(lowBits: Int)
    /// By expected steps, corrected in every picture unless `isFixed`.
    case stepped(isFixed: Bool, nonReference: Int, bottom: Int, steps: [Int])
    /// Decoding order is display order.
    case asDecoded
  }

  var number: Int
  var hasSeparatePlanes = false
  /// 0 for gray pictures.
  var chromaFormat = 1
  var frameNumberBits: Int
  var order: Order
  /// Whether reference pictures may be missing intentionally.
  var allowsGaps: Bool
  var allowsFields: Bool
  /// Width of pictures after cropping.
  var width: Int
  var height: Int
  /// How many pictures may precede one that is displayed earlier, if stated.
  var reorderedPictures: Int?
  /// Bits of a luma sample.
  var bitDepth = 8
  /// The color description, as far as stated.
  var color = CodedColor()

  private static let highProfiles: Set<Int> = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]

  /// - Parameter unit: the NAL unit with its header.
  init?(_ unit: some Collection<UInt8>) {
    var bits = BitReader(unit, skipping: 1)
    guard let profile = bits.bits(8), bits.skip(16), let number = bits.golomb(upTo: 31) else {
      return nil
    }
    self.number = number
    if Self.highProfiles.contains(profile) {
      guard let chroma = bits.golomb(upTo: 3) else { return nil }
      chromaFormat = chroma
      if chroma == 3 { hasSeparatePlanes = bits.flag() ?? false }
      guard let deeper = bits.golomb(upTo: 6), bits.golomb() != nil, bits.skip(1),
        let scaled = bits.flag(),
        !scaled || Self.skipScaling(&bits, lists: chroma == 3 ? 12 : 8)
      else { return nil }
      bitDepth = 8 + deeper
    }
    guard let frameBits = bits.golomb(upTo: 12), let kind = bits.golomb(upTo: 2),
      let order = Self.order(kind, &bits)
    else { return nil }
    frameNumberBits = frameBits + 4
    self.order = order
    guard bits.golomb(upTo: 16) != nil, let allowsGaps = bits.flag(),
      let wide = bits.golomb(upTo: 2047),
      let high = bits.golomb(upTo: 2047), let framesOnly = bits.flag()
    else { return nil }
    self.allowsGaps = allowsGaps
    allowsFields = !framesOnly
    width = (wide + 1) * 16
    height = (high + 1) * 16 * (framesOnly ? 1 : 2)
    guard framesOnly || bits.skip(1), bits.skip(1), let isCropped = bits.flag() else { return nil }
    if isCropped {
      guard let left = bits.golomb(), let right = bits.golomb(), let top = bits.golomb(),
        let bottom = bits.golomb()
      else { return nil }
      let isSubsampled = !hasSeparatePlanes
      let unitX = isSubsampled && (chromaFormat == 1 || chromaFormat == 2) ? 2 : 1
      let unitY = (isSubsampled && chromaFormat == 1 ? 2 : 1) * (framesOnly ? 1 : 2)
      guard unitX * (left + right) < width, unitY * (top + bottom) < height else { return nil }
      width -= unitX * (left + right)
      height -= unitY * (top + bottom)
    }
    reorderedPictures = Self.reorderedPictures(&bits, &color)
  }

  private static func order(_ kind: Int, _ bits: inout BitReader) -> Order? {
    switch kind {
    case 0: return bits.golomb(upTo: 12).map { .counted(lowBits: $0 + 4) }
    case 1:
      guard let isFixed = bits.flag(), let nonReference = bits.signedGolomb(),
        let bottom = bits.signedGolomb(), let count = bits.golomb(upTo: 255)
      else { return nil }
      var steps: [Int] = []
      for _ in 0..<count {
        guard let step = bits.signedGolomb() else { return nil }
        steps.append(step)
      }
      return .stepped(isFixed: isFixed, nonReference: nonReference, bottom: bottom, steps: steps)
    default: return .asDecoded
    }
  }

  private static func skipScaling(_ bits: inout BitReader, lists: Int) -> Bool {
    for list in 0..<lists {
      guard let isPresent = bits.flag() else { return false }
      guard isPresent else { continue }
      var (last, next) = (8, 8)
      for _ in 0..<(list < 6 ? 16 : 64) {
        if next != 0 {
          guard let delta = bits.signedGolomb(), abs(delta) < 1 << 16 else { return false }
          next = (last + delta + 256) & 0xff
        }
        last = next == 0 ? last : next
      }
    }
    return true
  }

  /// Reads the restrictions in the usability information (annex E); `nil` without them. Stores the
  /// color description on the way.
  private static func reorderedPictures(
    _ bits: inout BitReader, _ color: inout CodedColor
  ) -> Int? {
    guard bits.flag() == true, let hasAspect = bits.flag() else { return nil }
    if hasAspect {
      guard let aspect = bits.bits(8), aspect != 255 || bits.skip(32) else { return nil }
    }
    guard let overscan = bits.flag(), !overscan || bits.skip(1), let signal = bits.flag() else {
      return nil
    }
    if signal {
      guard bits.skip(3), let isFull = bits.flag(), let isDescribed = bits.flag() else {
        return nil
      }
      color.isFullRange = isFull
      if isDescribed {
        guard let primaries = bits.bits(8), let transfer = bits.bits(8), let matrix = bits.bits(8)
        else { return nil }
        (color.primaries, color.transfer, color.matrix) = (primaries, transfer, matrix)
      }
    }
    if bits.flag() == true {
      guard bits.golomb() != nil, bits.golomb() != nil else { return nil }
    }
    guard let timing = bits.flag(), !timing || bits.skip(65), let nal = bits.flag() else {
      return nil
    }
    guard !nal || skipBuffering(&bits), let vcl = bits.flag(), !vcl || skipBuffering(&bits) else {
      return nil
    }
    guard !(nal || vcl) || bits.skip(1), bits.skip(1), bits.flag() == true, bits.skip(1) else {
      return nil
    }
    for _ in 0..<4 where bits.golomb() == nil { return nil }
    return bits.golomb(upTo: 16)
  }

  private static func skipBuffering(_ bits: inout BitReader) -> Bool {
    guard let count = bits.golomb(upTo: 31), bits.skip(8) else { return false }
    for _ in 0...count {
      guard bits.golomb() != nil, bits.golomb() != nil, bits.skip(1) else { return false }
    }
    return bits.skip(20)
  }
}

/// Color description of a coded stream or its container, in the numbers of ITU-T H.273; `nil` = not
/// stated.
struct CodedColor: Hashable {
  var isFullRange: Bool?
  var primaries: Int?
  var transfer: Int?
  var matrix: Int?
}

/// The parts of an H.264 picture parameter set (7.3.2.2) that slice headers depend on.
struct H264PictureSet: Hashable {
  var number: Int
  var sequence: Int
  var hasFieldOrder: Bool
  var references: [Int]
  var isWeighted: Bool
  var weightsBidirectional: Int
  var hasRedundancy: Bool

  init?(_ unit: some Collection<UInt8>) {
    var bits = BitReader(unit, skipping: 1)
    guard let number = bits.golomb(upTo: 255), let sequence = bits.golomb(upTo: 31), bits.skip(1),
      let hasFieldOrder = bits.flag(), bits.golomb() == 0, let first = bits.golomb(upTo: 31),
      let second = bits.golomb(upTo: 31), let isWeighted = bits.flag(),
      let bidirectional = bits.bits(2), bits.signedGolomb() != nil, bits.signedGolomb() != nil,
      bits.signedGolomb() != nil, bits.skip(2), let hasRedundancy = bits.flag()
    else {
      // With slice groups, nothing after them is needed except whether redundant pictures exist.
      return nil
    }
    self.number = number
    self.sequence = sequence
    self.hasFieldOrder = hasFieldOrder
    references = [first + 1, second + 1]
    self.isWeighted = isWeighted
    weightsBidirectional = bidirectional
    self.hasRedundancy = hasRedundancy
  }
}

/// Reads the bits of a NAL unit (ITU-T H.264 and H.265, 7.3 and 9.1) after its header, without
/// emulation prevention bytes. Ends where the next start code begins.
///
/// After the end every value is `nil`.
struct BitReader {
  private let bytes: [UInt8]
  private var bit = 0

  /// - Parameter unit: the bytes from `first` on are read; may extend beyond the unit.
  init(_ unit: some Collection<UInt8>, skipping first: Int = 0) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(unit.count)
    var zeros = 0
    for byte in unit.dropFirst(first) {
      if zeros >= 2 {
        if byte <= 1 { break }
        if byte == 3 {
          zeros = 0
          continue
        }
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  mutating func flag() -> Bool? { bits(1).map { $0 != 0 } }

  /// Up to 32 bits, the first one highest.
  mutating func bits(_ count: Int) -> Int? {
    guard count >= 0, count <= 32, bit + count <= bytes.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[bit >> 3] >> UInt8(7 - bit & 7) & 1)
      bit += 1
    }
    return value
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, bit + count <= bytes.count * 8 else { return false }
    bit += count
    return true
  }

  /// An unsigned Exp-Golomb code, below 2^32 − 1.
  mutating func golomb() -> Int? {
    var zeros = 0
    while let bit = bits(1) {
      if bit == 1 { return bits(zeros).map { (1 << zeros) - 1 + $0 } }
      zeros += 1
      if zeros > 31 { return nil }
    }
    return nil
  }

  /// An unsigned Exp-Golomb code; `nil` above `limit`.
  mutating func golomb(upTo limit: Int) -> Int? {
    golomb().flatMap { $0 <= limit ? $0 : nil }
  }

  /// A signed Exp-Golomb code.
  mutating func signedGolomb() -> Int? {
    golomb().map { $0 % 2 == 1 ? ($0 + 1) / 2 : -$0 / 2 }
  }
}
