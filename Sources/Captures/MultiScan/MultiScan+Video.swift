import Codecs
import Geometry
import SystemPackage

extension MultiScan {
  /// The color video, indexed: its pictures are counted and none is decoded.
  struct Video: Sendable {
    var codec: String
    /// Pixels, before the turn that makes the pictures upright.
    var storedWidth: Int
    var storedHeight: Int
    var clockwiseQuarterTurns: Int
    /// Position of the stream inside the container.
    var track: Int
    /// Further video tracks, which are not read.
    var otherVideoTracks: Int
    /// Presentation times in display order.
    var ticks: [Int64]
    /// Seconds per tick, as a fraction.
    var tickNumerator: Int64
    var tickDenominator: Int64

    var pictures: Int { ticks.count }
    var uprightWidth: Int { clockwiseQuarterTurns % 2 == 0 ? storedWidth : storedHeight }
    var uprightHeight: Int { clockwiseQuarterTurns % 2 == 0 ? storedHeight : storedWidth }

    /// A tick difference in nanoseconds, to the nearest, ties away from zero; `nil` beyond ±292 years.
    func nanoseconds(fromTicks ticks: Int64) -> Int64? {
      guard tickDenominator > 0 else { return nil }
      let scaled = Int128(ticks) * 1_000_000_000 * Int128(tickNumerator)
      let half = Int128(tickDenominator) / 2
      return Int64(exactly: (scaled + (scaled < 0 ? -half : half)) / Int128(tickDenominator))
    }
  }
}
extension MultiScan.Video {
  init(_ path: FilePath, preferring resolution: MultiScan.Resolution) throws(CaptureError) {
    throw CaptureError(file: path, problem: "todo")
  }
}
