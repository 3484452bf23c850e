/// Chooses the filter of a row of 16-bit values: the one with the smallest estimated size.
///
/// The choice per row makes depth files small. Aligned depth repeats the row above wherever several
/// rows of the output lie between two of the sensor, and is sloped elsewhere.
struct FilterChoice {
  /// Rows up to this many bytes are sampled twice as densely; otherwise one piece per `step` bytes.
  private static let narrow = 1024
  private static let step = 512
  private static let piece = 128
  /// Bytes before a piece that show whether its first bytes continue a run.
  private static let lead = 8

  private var residual = [UInt8](repeating: 0, count: 2 * piece + lead)

  /// Chooses the filter of row `y`. Cost: predicts a quarter of the row three times, about a
  /// microsecond for 1296 values.
  mutating func filter(_ lines: inout Scanlines, row y: Int) -> ScanlineFilter {
    let rowBytes = lines.rowBytes
    // In the first row Paeth equals Sub.
    guard y > 0, rowBytes >= Self.lead + 16 else { return .paeth }
    let above = lines.row(y - 1)
    let current = lines.row(y)
    let step = rowBytes <= Self.narrow ? Self.step / 2 : Self.step
    return residual.withUnsafeMutableBufferPointer { residual in
      guard let residual = residual.baseAddress else { return .paeth }
      let costs = residual + Self.piece + Self.lead
      var sums = (0, 0, 0)
      var start = Self.lead
      while start < rowBytes {
        let count = min(Self.piece, rowBytes - start) + Self.lead
        let (row, up) = (current + start - Self.lead, above + start - Self.lead)
        // Before the first piece there is no pixel: its first pixel is left out.
        let skipped = start == Self.lead ? 2 : 0
        ScanlineKernels.up(current: row, above: up, count: count, residual: residual)
        sums.0 += Self.bits(residual + Self.lead, count: count - Self.lead, costs: costs)
        ScanlineKernels.paeth(
          current: row + skipped, above: up + skipped, pixelBytes: 2, count: count - skipped,
          residual: residual + skipped)
        sums.1 += Self.bits(residual + Self.lead, count: count - Self.lead, costs: costs)
        ScanlineKernels.up(
          current: row + skipped, above: row + skipped - 2, count: count - skipped,
          residual: residual + skipped)
        sums.2 += Self.bits(residual + Self.lead, count: count - Self.lead, costs: costs)
        start += step
      }
      // The pieces are only a sample: Paeth is used unless another filter is clearly better.
      let most = sums.1 &- sums.1 / 32
      if min(sums.0, sums.2) >= most { return .paeth }
      return sums.0 <= sums.2 ? .up : .sub
    }
  }

  /// Estimated bits of predicted bytes: one for 0, three for ±1, one more for each doubling; none
  /// inside a run of equal values. Takes at most `piece` bytes and reads four bytes before them.
  /// `costs` must hold as many values.
  private static func bits(
    _ bytes: UnsafePointer<UInt8>, count: Int, costs: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let (b1, b2, b3, b4) = (bytes - 1, bytes - 2, bytes - 3, bytes - 4)
    var i = 0
    while i < count {
      let value = bytes[i]
      let negative = 0 &- value
      let size = value < negative ? value : negative
      let cost: UInt8 =
        1 &+ (size > 0 ? 2 : 0) &+ (size > 1 ? 1 : 0) &+ (size > 3 ? 1 : 0)
        &+ (size > 7 ? 1 : 0) &+ (size > 15 ? 1 : 0) &+ (size > 31 ? 1 : 0)
      let changes = (value ^ b2[i]) | (b1[i] ^ b3[i]) | (b2[i] ^ b4[i])
      costs[i] = changes == 0 ? 0 : cost
      i &+= 1
    }
    while i & 7 != 0 {
      costs[i] = 0
      i &+= 1
    }
    // At most sixteen words of eight sums of at most eight.
    let words = UnsafeRawPointer(costs)
    var sums: UInt64 = 0
    var at = 0
    while at < count {
      sums &+= words.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      at &+= 8
    }
    let low: UInt64 = 0x00ff_00ff_00ff_00ff
    let pairs = (sums & low) &+ (sums &>> 8 & low)
    return Int(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) &>> 48)
  }
}
