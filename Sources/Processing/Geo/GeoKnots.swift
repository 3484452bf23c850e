import Core

/// Finds the points at which a value changes, and the position of a time among them.
enum GeoKnots {
  enum Place {
    /// Exactly at this knot.
    case measured(Int)
    /// Outside of the knots, or in a long step: the value of this knot is held.
    case held(Int)
    /// Between this knot and the next; `weight` is the fraction of the way, 0 to 1.
    case between(Int, weight: Double)

    var source: GeoSample.Source {
      switch self {
      case .measured: .measured
      case .held: .held
      case .between: .interpolated
      }
    }
  }

  /// The first point, every point whose value differs from the one before, and the last point,
  /// sorted by time. Of several points at one time the last in `points` is used.
  static func of<Point>(
    _ points: [Point], time: KeyPath<Point, Timestamp>, isSame: (Point, Point) -> Bool
  ) -> [Point] {
    var ordered: [Point] = []
    ordered.reserveCapacity(points.count)
    // Swift's sort is stable.
    for point in points.sorted(by: { $0[keyPath: time] < $1[keyPath: time] }) {
      if ordered.last?[keyPath: time] == point[keyPath: time] { ordered.removeLast() }
      ordered.append(point)
    }
    return ordered.indices.compactMap { index in
      let isEnd = index == 0 || index == ordered.count - 1
      return isEnd || !isSame(ordered[index - 1], ordered[index]) ? ordered[index] : nil
    }
  }

  /// The position of `moment` among `knots`; `nil` without knots.
  static func place<Point>(
    of moment: Timestamp, among knots: [Point], time: KeyPath<Point, Timestamp>
  ) -> Place? {
    guard !knots.isEmpty else { return nil }
    // The first knot after `moment`.
    var (low, high) = (0, knots.count)
    while low < high {
      let middle = (low + high) / 2
      if knots[middle][keyPath: time] > moment { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return .held(0) }
    let before = knots[low - 1][keyPath: time]
    if before == moment { return .measured(low - 1) }
    guard low < knots.count else { return .held(low - 1) }
    let span = knots[low][keyPath: time] - before
    if span > GeoTrackSampler.longestInterpolationNanoseconds { return .held(low - 1) }
    return .between(low - 1, weight: Double(moment - before) / Double(span))
  }
}
