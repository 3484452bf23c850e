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
