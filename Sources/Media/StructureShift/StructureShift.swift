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
}
