import Codecs
import Geometry

/// Which row of the frame table belongs to which picture of the video.
///
/// The writer drops pictures without a trace when it is busy, while the row may already exist. The
/// video's times start at 0 and tell only distances.
struct VISLAMPairing {
  /// Offsets tried: the first picture may belong to any of the first rows.
  private static let mostOffsets = 61
  /// Two offsets that fit equally well to this are not told apart.
  private static let indistinctNanoseconds = 250_000.0
  private static let smallestToleranceNanoseconds: Int64 = 2_000_000

  /// Row of picture k in presentation order; `nil` for a picture without row.
  private(set) var rowOfPicture: [Int?]
  /// The row clock's time of the first picture.
  private(set) var start: Timestamp
  /// Whether the times do not prove the pairing.
  private(set) var isApproximate = false
  /// By how much times may be off because an edit list hides pictures of which rows do not tell; `nil` = not so.
  private(set) var mostOffNanoseconds: Int64?

  /// - Parameters:
  ///   - rows: times of the rows, increasing, at least one.
  ///   - pictures: presentation times in nanoseconds from the first picture, in display order.
  ///   - tickNanoseconds: the resolution of `pictures`.
  ///   - rowsHaveGaps: whether frames are missing between rows.
  ///   - hidden: what an edit list hides; rows may know nothing of it. Where the times leave several rows for the
  ///     first picture, it is the one behind as many rows as pictures are hidden.
  ///
  /// Cost: 61 × (rows + pictures) steps at most.
  init(
    rows: [Timestamp], pictures: [Int64], tickNanoseconds: Int64, rowsHaveGaps: Bool,
    hidden: HiddenPictures = HiddenPictures()
  ) {
    start = rows.first ?? Timestamp(nanoseconds: 0)
    rowOfPicture = [Int?](repeating: nil, count: pictures.count)
    guard !rows.isEmpty, !pictures.isEmpty else { return }
    if rows.count == pictures.count {
      rowOfPicture = pictures.indices.map { $0 }
      let tolerance = max(Self.smallestToleranceNanoseconds, 2 * tickNanoseconds)
      let fits = zip(rows, pictures).allSatisfy { row, picture in
        let elapsed = row - rows[0]
        return abs(Double(elapsed) - Double(picture)) <= Double(tolerance)
      }
      if fits { return }
      // Evenly spaced times beside gaps in the rows are made up.
      let isMadeUp = rowsHaveGaps && Self.isEven(pictures, tickNanoseconds)
      isApproximate =
        isMadeUp || Self.bestFit(rows, pictures).fit.pairs < pictures.count
    } else {
      let (fit, isDistinct) = Self.bestFit(rows, pictures, hidden: hidden.before)
      let behind = rows.count - pictures.count - hidden.before
      let isProven =
        hidden.before > 0 && fit.offset == hidden.before && (behind == 0 || behind == hidden.after)
      isApproximate = !isDistinct && !isProven
      if hidden.before > 0, isApproximate {
        let last = min(max(fit.offset, rows.count - pictures.count), rows.count - 1)
        mostOffNanoseconds =
          fit.offset == hidden.before
          ? max(rows[fit.offset] - rows[0], rows[last] - rows[fit.offset]) : hidden.nanoseconds
      }
      start = rows[fit.offset]
      _ = Self.fit(rows, pictures, offset: fit.offset, halfStep: Self.halfStep(rows)) {
        rowOfPicture[$0] = $1
      }
    }
  }

  private struct Fit {
    var offset: Int
    var pairs: Int
    var rmsNanoseconds: Double
  }

  /// The offset with most pairs, then the smallest difference, then the earliest row; and whether no
  /// other one fits as well.
  private static func bestFit(
    _ rows: [Timestamp], _ pictures: [Int64], hidden: Int = 0
  ) -> (fit: Fit, isDistinct: Bool) {
    let halfStep = halfStep(rows)
    var offsets = Array(rows.indices.prefix(mostOffsets))
    if hidden >= offsets.count, rows.indices.contains(hidden) { offsets.append(hidden) }
    let fits = offsets.map {
      fit(rows, pictures, offset: $0, halfStep: halfStep) { _, _ in }
    }
    var best = fits[0]
    for fit in fits.dropFirst()
    where
      (-fit.pairs, fit.rmsNanoseconds) < (-best.pairs, best.rmsNanoseconds)
    { best = fit }
    let equals = fits.filter {
      $0.pairs == best.pairs && $0.rmsNanoseconds - best.rmsNanoseconds < indistinctNanoseconds
    }
    let ofHidden = hidden > 0 ? equals.first { $0.offset == hidden } : nil
    return (ofHidden ?? equals[0], equals.count == 1)
  }

  /// Gives each picture, in order, the nearest later row within half a step of its time, if picture 0
  /// were taken at row `offset`.
  private static func fit(
    _ rows: [Timestamp], _ pictures: [Int64], offset: Int, halfStep: Double,
    _ pair: (_ picture: Int, _ row: Int) -> Void
  ) -> Fit {
    var pairs = 0
    var squares = 0.0
    var firstFree = 0
    var behind = 0
    for (picture, elapsed) in pictures.enumerated() {
      let time = rows[offset].advanced(byNanoseconds: elapsed)
      while behind < rows.count, rows[behind] < time { behind += 1 }
      // The nearest is the last row before the time or the first one behind it.
      var nearest: (row: Int, distance: Double)?
      for row in [behind - 1, max(behind, firstFree)] where row >= firstFree && row < rows.count {
        let distance = abs(Double(time - rows[row]))
        if distance < nearest?.distance ?? .infinity { nearest = (row, distance) }
      }
      guard let nearest, nearest.distance <= halfStep else { continue }
      pair(picture, nearest.row)
      pairs += 1
      squares += nearest.distance * nearest.distance
      firstFree = nearest.row + 1
    }
    return Fit(
      offset: offset, pairs: pairs,
      rmsNanoseconds: pairs > 0 ? (squares / Double(pairs)).squareRoot() : .infinity)
  }

  private static func halfStep(_ rows: [Timestamp]) -> Double {
    Double(TimeSteps(rows).medianNanoseconds ?? 0) / 2
  }

  /// Whether all steps are equal as far as ticks can tell.
  private static func isEven(_ pictures: [Int64], _ tickNanoseconds: Int64) -> Bool {
    let steps = zip(pictures.dropFirst(), pictures).map { $0 - $1 }
    guard let shortest = steps.min(), let longest = steps.max() else { return false }
    // Rounding to whole nanoseconds may add one at both ends.
    return longest - shortest <= tickNanoseconds + 2
  }
}
