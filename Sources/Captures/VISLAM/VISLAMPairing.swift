import Codecs
import Geometry

/// Pairs the rows of the frame table with the pictures of the video.
///
/// When it is busy the writer drops pictures silently, although their row may exist. The video's
/// times start at 0 and give distances only.
struct VISLAMPairing {
  /// Number of offsets to try: the first picture may belong to any of the first rows.
  private static let mostOffsets = 61
  /// Two offsets whose errors differ by less are considered equal.
  private static let indistinctNanoseconds = 250_000.0
  private static let smallestToleranceNanoseconds: Int64 = 2_000_000

  /// Row of picture k in presentation order; `nil` for a picture without row.
  private(set) var rowOfPicture: [Int?]
  /// The time of the first picture on the rows' clock.
  private(set) var start: Timestamp
  /// Whether the times do not determine the pairing.
  private(set) var isApproximate = false
  /// Largest possible error of the times if an edit list hides pictures and the rows do not show
  /// which; `nil` if there is none.
  private(set) var mostOffNanoseconds: Int64?

  /// - Parameters:
  ///   - rows: times of the rows, increasing, at least one.
  ///   - pictures: presentation times in nanoseconds from the first picture, in display order.
  ///   - tickNanoseconds: the resolution of `pictures`.
  ///   - rowsHaveGaps: whether frames are missing between rows.
  ///   - hidden: pictures hidden by an edit list, for which rows may exist. If the times allow
  ///     several rows for the first picture, the row index equals the number of hidden pictures.
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
      // Evenly spaced picture times together with gaps in the rows are artificial.
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

  /// The offset with the most pairs, then the smallest difference, then the earliest row; and
  /// whether no other one is as good.
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

  /// Assigns each picture, in order, the nearest later row within half a step of its time, assuming
  /// that picture 0 belongs to row `offset`.
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
      // The nearest row is the last one before the time or the first one after it.
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

  /// Whether all steps are equal within the resolution of ticks.
  private static func isEven(_ pictures: [Int64], _ tickNanoseconds: Int64) -> Bool {
    let steps = zip(pictures.dropFirst(), pictures).map { $0 - $1 }
    guard let shortest = steps.min(), let longest = steps.max() else { return false }
    // Rounding to whole nanoseconds may add one at both ends.
    return longest - shortest <= tickNanoseconds + 2
  }
}
