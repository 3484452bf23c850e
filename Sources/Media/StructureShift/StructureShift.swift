/// The depth codec of the Structure Sensor SDK as the ScanNet app stores it: one frame of 11-bit
/// *shifts* (sensor disparities, 0…2047) as a string of prefix codes, most significant bit first.
///
/// | code bits | meaning | pixels |
/// | --- | --- | --- |
/// | `00` | the predictor `p` | 1 |
/// | `10`, `11` | `p` − 1, `p` + 1 | 1 |
/// | `010` + 5 bits `k` | `p`, `k` + 5 times | 5…36 |
/// | `01100`, `01101` | `p` − 2, `p` + 2 | 1 |
/// | `0111` + 11 bits `v` | `v` | 1 |
///
/// The predictor starts at 0 in every frame and continues across row ends. The rest of the last byte is
/// padding.
public enum StructureShift {
  /// The longest run of equal pixels in one code.
  static let longestRun = 36
  /// The shortest run of equal pixels that has a code of its own.
  static let shortestRun = 5

  /// Possible sizes of a payload of `pixelCount` pixels: from runs of 36 only (8 bits each) to
  /// literals only (15 bits each).
  public static func payloadBytes(pixelCount: Int) -> ClosedRange<Int> {
    guard pixelCount > 0 else { return 0...0 }
    let (wholeBytes, rest) = pixelCount.quotientAndRemainder(dividingBy: 8)
    let (longest, overflow) = wholeBytes.multipliedReportingOverflow(by: 15)
    let shortest = (pixelCount - 1) / longestRun + 1
    return shortest...(overflow ? .max : longest &+ (rest * 15 + 7) / 8)
  }

  // Shifts to millimeters along the optical axis: one fixed table for all devices.

  /// The last shift that is a distance (9,424 mm); larger ones mean no measurement.
  public static let lastMeasuredShift = 1103

  /// Millimeters of the shifts 0…2047; 0 = no measurement.
  ///
  /// Integer arithmetic. With a numerator of 1,800,000, as the formula might suggest, the entry of
  /// shift 614 would be 576 instead of 575.
  public static let millimeters: [UInt16] = (0..<2048).map { shift in
    (1...lastMeasuredShift).contains(shift) ? UInt16(1_799_999 / (6809 - 6 * shift)) : 0
  }

  /// Millimeters of any stored value; 0 for values above 2047, which do not occur in valid streams.
  public static func millimeters(ofShift shift: UInt16) -> UInt16 {
    millimeters[min(Int(shift), 2047)]
  }

  /// Replaces every shift by its millimeters. Cost: one lookup in 4 KiB per pixel.
  public static func convertToMillimeters(_ pixels: inout MutableSpan<UInt16>) {
    let entries = millimeters
    let table = entries.span
    var index = 0
    while index < pixels.count {
      // In range: the table ends at 2047, whose entry is valid for all larger values.
      pixels[unchecked: index] = table[unchecked: min(Int(pixels[unchecked: index]), 2047)]
      index &+= 1
    }
  }
}

extension StructureShift {
  /// The payload of one frame in raster order, exactly as the ScanNet app encodes it, byte for byte.
  ///
  /// Values above 2047 do not fit a code and are stored as 2047, the sensor's value for no
  /// measurement. An empty frame gives an empty payload. Cost: one pass.
  public static func encode(_ shifts: [UInt16]) -> [UInt8] {
    var bits = BitWriter()
    bits.bytes.reserveCapacity(shifts.count / 2)
    var predictor: UInt16 = 0
    var equal = 0
    for shift in shifts {
      let shift = min(shift, 2047)
      if shift == predictor {
        equal += 1
        continue
      }
      bits.appendEqualPixels(equal)
      equal = 0
      switch Int(shift) - Int(predictor) {
      case -1: bits.append(0b10, count: 2)
      case 1: bits.append(0b11, count: 2)
      case -2: bits.append(0b01100, count: 5)
      case 2: bits.append(0b01101, count: 5)
      default: bits.append(0b0111 << 11 | UInt64(shift), count: 15)
      }
      predictor = shift
    }
    bits.appendEqualPixels(equal)
    return bits.finish()
  }

  /// Collects bits; the first one is the highest of each byte.
  private struct BitWriter {
    var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// Appends the low `count` bits of `value`; `count` ≤ 32.
    mutating func append(_ value: UInt64, count: Int) {
      pending = pending << UInt64(count) | value
      pendingCount += count
      while pendingCount >= 8 {
        pendingCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
      }
    }

    /// Appends runs as long as possible, then one code for each remaining pixel.
    mutating func appendEqualPixels(_ count: Int) {
      var count = count
      while count >= StructureShift.shortestRun {
        let run = min(count, StructureShift.longestRun)
        append(0b010 << 5 | UInt64(run - StructureShift.shortestRun), count: 8)
        count -= run
      }
      for _ in 0..<count { append(0b00, count: 2) }
    }

    /// The bytes; the last one is padded with zero bits.
    consuming func finish() -> [UInt8] {
      if pendingCount > 0 { append(0, count: 8 - pendingCount) }
      return bytes
    }
  }
}

// Decodes frames of Structure Sensor shifts.

extension StructureShift {
  /// Decodes one payload into `shifts`, one value per pixel in raster order.
  ///
  /// The payload must hold exactly `shifts.count` pixels and no further byte; padding bits of the
  /// last byte are ignored. Shifts wrap at 16 bits; only a damaged payload leaves 0…2047. After
  /// damage the content of `shifts` is undefined. Allocates nothing.
  public static func decode(
    _ payload: RawSpan, into shifts: inout MutableSpan<UInt16>
  ) throws(StructureShiftDamage) {
    let bytesUsed = try decodePrefix(of: payload, into: &shifts)
    guard bytesUsed == payload.byteCount else {
      throw StructureShiftDamage(
        reason: .bytesLeft, pixel: shifts.count, bitOffset: bytesUsed * 8)
    }
  }

  /// Decodes one frame from the start of `bytes`, which may continue after it. The end follows from
  /// the codes, so that a frame with a damaged stored length can still be read.
  ///
  /// - Returns: how many bytes the codes took, including padding of the last one.
  public static func decodePrefix(
    of bytes: RawSpan, into shifts: inout MutableSpan<UInt16>
  ) throws(StructureShiftDamage) -> Int {
    var position = Position()
    decodeBulk(bytes, into: &shifts, from: &position)
    try decodeRest(bytes, into: &shifts, from: &position)
    return (position.bit + 7) / 8
  }

  /// The current position of decoding.
  private struct Position {
    var bit = 0
    var pixel = 0
    var predictor: UInt16 = 0
  }

  /// Decodes while eight more bytes can be loaded and the longest code fits the picture with whole
  /// vector stores; stops at the start of a code.
  private static func decodeBulk(
    _ bytes: RawSpan, into shifts: inout MutableSpan<UInt16>, from position: inout Position
  ) {
    // Five stores of eight values cover the longest run.
    let lastStart = shifts.count - 40
    let lastLoad = bytes.byteCount - 8
    let table = StructureShiftCodeTable.shared
    let steps = table.steps.span
    let deltas = table.deltas.span
    var pixel = 0
    var predictor: UInt16 = 0
    // The next bits, the first one highest. `available` of them are valid; those after are right or
    // 0.
    var window: UInt64 = 0
    var available = 0
    var nextByte = 0
    shifts.withUnsafeMutableBytes { output in
      guard let output = output.baseAddress else { return }
      while pixel <= lastStart, nextByte <= lastLoad {
        let more = UInt64(
          bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: nextByte, as: UInt64.self))
        window |= more &>> UInt64(truncatingIfNeeded: available)
        nextByte &+= (63 &- available) &>> 3
        available |= 56

        let index = Int(
          truncatingIfNeeded: window &>> UInt64(64 - StructureShiftCodeTable.indexBits))
        let step = steps[unchecked: index]
        let target = output + 2 &* pixel
        if step.pixels != 0 {
          let values = deltas[unchecked: index] &+ predictor
          target.storeBytes(of: values, as: SIMD8<UInt16>.self)
          predictor &+= step.change
          pixel &+= Int(step.pixels)
          window &<<= UInt64(step.bits)
          available &-= Int(step.bits)
        } else if window &>> 61 == 0b010 {
          let values = SIMD8<UInt16>(repeating: predictor)
          target.storeBytes(of: values, as: SIMD8<UInt16>.self)
          (target + 16).storeBytes(of: values, as: SIMD8<UInt16>.self)
          (target + 32).storeBytes(of: values, as: SIMD8<UInt16>.self)
          (target + 48).storeBytes(of: values, as: SIMD8<UInt16>.self)
          (target + 64).storeBytes(of: values, as: SIMD8<UInt16>.self)
          let length = Int(truncatingIfNeeded: (window &>> 56) & 31) &+ shortestRun
          pixel &+= length
          window &<<= 8
          available &-= 8
        } else {
          predictor = UInt16(truncatingIfNeeded: (window &>> 49) & 2047)
          target.storeBytes(of: predictor, as: UInt16.self)
          pixel &+= 1
          window &<<= 15
          available &-= 15
        }
      }
    }
    position = Position(bit: nextByte * 8 - available, pixel: pixel, predictor: predictor)
  }

  /// Decodes code by code up to the last pixel.
  private static func decodeRest(
    _ bytes: RawSpan, into shifts: inout MutableSpan<UInt16>, from position: inout Position
  ) throws(StructureShiftDamage) {
    let bitCount = bytes.byteCount * 8
    while position.pixel < shifts.count {
      let code = code(at: position.bit, of: bytes)
      guard code.bits <= bitCount - position.bit else {
        throw StructureShiftDamage(
          reason: .endsEarly, pixel: position.pixel, bitOffset: position.bit)
      }
      guard code.pixels <= shifts.count - position.pixel else {
        throw StructureShiftDamage(
          reason: .runPassesEnd, pixel: position.pixel, bitOffset: position.bit)
      }
      position.predictor = code.literal ?? position.predictor &+ code.change
      for pixel in position.pixel..<(position.pixel + code.pixels) {
        shifts[pixel] = position.predictor
      }
      position.bit += code.bits
      position.pixel += code.pixels
    }
  }

  /// One code of the stream.
  private struct Code {
    var bits: Int
    var pixels = 1
    var change: UInt16 = 0
    var literal: UInt16?
  }

  /// The code that starts at bit `position`; bits after the end read as 0.
  private static func code(at position: Int, of bytes: RawSpan) -> Code {
    var window: UInt32 = 0
    for index in (position / 8)..<(position / 8 + 4) {
      let byte: UInt8 =
        index < bytes.byteCount
        ? bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) : 0
      window = window << 8 | UInt32(byte)
    }
    window <<= UInt32(position % 8)
    switch window >> 30 {
    case 0b00: return Code(bits: 2)
    case 0b10: return Code(bits: 2, change: 0 &- 1)
    case 0b11: return Code(bits: 2, change: 1)
    default: break
    }
    switch window >> 28 {
    case 0b0111: return Code(bits: 15, literal: UInt16(window >> 17 & 2047))
    case 0b0110: return Code(bits: 5, change: window >> 27 & 1 == 1 ? 2 : 0 &- 2)
    default: return Code(bits: 8, pixels: Int(window >> 24 & 31) + shortestRun)
    }
  }
}

/// Decodes the next ten bits of a stream, several short codes at once.
///
/// Neighboring depth pixels differ by little, so most codes have two bits and a lookup gives up to
/// five pixels. An entry without pixels stands for a run or a literal, which the decoder reads
/// separately.
struct StructureShiftCodeTable {
  static let indexBits = 10
  static let shared = StructureShiftCodeTable()

  /// What to add to the predictor for each of the next pixels; lanes after the last pixel are
  /// unused. 16 KiB, which fits the first-level cache.
  private(set) var deltas: [SIMD8<UInt16>]
  private(set) var steps: [Step]

  /// Number of bits and pixels of an entry.
  struct Step {
    var bits: UInt8 = 0
    var pixels: UInt8 = 0
    /// Sum of the pixels' changes, wrapping.
    var change: UInt16 = 0
  }

  private init() {
    let size = 1 << Self.indexBits
    deltas = Array(repeating: .zero, count: size)
    steps = Array(repeating: Step(), count: size)
    for index in 0..<size {
      var step = Step()
      while let (bits, change) = Self.shortCode(in: index, after: Int(step.bits)) {
        step.bits += UInt8(bits)
        step.change &+= UInt16(truncatingIfNeeded: change)
        deltas[index][Int(step.pixels)] = step.change
        step.pixels += 1
      }
      steps[index] = step
    }
  }

  /// The code of a single small change at bit `position` of `index`, if it ends inside `index`.
  private static func shortCode(in index: Int, after position: Int) -> (bits: Int, change: Int)? {
    let left = indexBits - position
    let rest = index & ((1 << left) - 1)
    if left >= 2 {
      switch rest >> (left - 2) {
      case 0b00: return (2, 0)
      case 0b10: return (2, -1)
      case 0b11: return (2, 1)
      default: break
      }
    }
    guard left >= 5 else { return nil }
    switch rest >> (left - 5) {
    case 0b01100: return (5, -2)
    case 0b01101: return (5, 2)
    default: return nil
    }
  }
}

/// Why a payload is not a valid frame, and where.
public struct StructureShiftDamage: Error, Hashable, CustomStringConvertible {
  enum Reason: Hashable {
    /// The payload ends inside or before a code that is still needed.
    case endsEarly
    /// A run of equal pixels extends beyond the last pixel.
    case runPassesEnd
    /// All pixels were decoded, but bytes remain.
    case bytesLeft
  }

  var reason: Reason
  /// Number of pixels decoded before the damage.
  var pixel: Int
  /// Offset in bits from the start of the payload to the code concerned (or to the end of the
  /// codes).
  var bitOffset: Int

  public var description: String {
    let place = "(pixel \(pixel), bit \(bitOffset) of the compressed frame)"
    return switch reason {
    case .endsEarly: "the depth frame is cut short \(place)"
    case .runPassesEnd: "the depth frame is damaged: it has more pixels than its size \(place)"
    case .bytesLeft: "the depth frame is damaged: bytes are left after its last pixel \(place)"
    }
  }
}
