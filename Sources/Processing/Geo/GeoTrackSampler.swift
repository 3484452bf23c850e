import Core

/// Position and heading at any time, from a track that repeats its last values.
///
/// A recorder appends a point at every position *or* heading and repeats the last value of the
/// other. Interpolating between raw neighbors would reproduce these steps. Positions and headings
/// are therefore reduced, separately, to **knots**: the first point, every point with a new value,
/// and the last one.
///
/// Cost: one sort at the start, two binary searches per sample.
public struct GeoTrackSampler: Sendable {
  /// If knots are further apart, the earlier one is held.
  public static let longestInterpolationNanoseconds: Int64 = 10_000_000_000

  private let positions: [GeoPosition]
  private let headings: [GeoHeading]
  private let heldLatitude: Double?
  private let heldLongitude: Double?
  private let heldHeading: Double?

  /// `track` is in file order: of several points at one time the last one counts.
  public init(_ track: GeoTrack) {
    positions = GeoKnots.of(track.positions, time: \.timestamp) {
      $0.latitude == $1.latitude && $0.longitude == $1.longitude && $0.accuracy == $1.accuracy
        && $0.altitude == $1.altitude
    }
    headings = GeoKnots.of(track.headings, time: \.timestamp) { $0.degrees == $1.degrees }
    heldLatitude = track.heldLatitude
    heldLongitude = track.heldLongitude
    heldHeading = track.heldHeading
  }

  /// The position knots, in time order; empty without any valid position.
  public var positionKnots: [GeoPosition] { positions }

  /// Position and heading at `time`.
  ///
  /// At a knot its value; before the first and after the last knot that knot's value; between two
  /// knots linear, longitude and heading along the shorter way. Without any valid value, the value
  /// that the capture states for the whole recording.
  public func sample(at time: Timestamp) -> GeoSample {
    var sample = GeoSample()
    if let place = GeoKnots.place(of: time, among: positions, time: \.timestamp) {
      setPosition(of: &sample, place)
    } else if let heldLatitude, let heldLongitude {
      sample.latitude = heldLatitude
      sample.longitude = heldLongitude
      sample.source = .held
    }
    var headingSource: GeoSample.Source?
    if let place = GeoKnots.place(of: time, among: headings, time: \.timestamp) {
      (sample.heading, headingSource) = heading(place)
    } else if let heldHeading {
      sample.heading = Self.wrappedHeading(heldHeading)
      headingSource = .held
    }
    if sample.source == nil { sample.source = headingSource }
    return sample
  }

  private func setPosition(of sample: inout GeoSample, _ place: GeoKnots.Place) {
    sample.source = place.source
    switch place {
    case .measured(let index), .held(let index):
      sample.latitude = positions[index].latitude
      sample.longitude = positions[index].longitude
      sample.accuracy = positions[index].accuracy
      sample.altitude = positions[index].altitude
    case .between(let index, let weight):
      let (a, b) = (positions[index], positions[index + 1])
      var turn = b.longitude - a.longitude
      if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
      sample.latitude = a.latitude + weight * (b.latitude - a.latitude)
      sample.longitude = Self.wrappedLongitude(a.longitude + weight * turn)
      if let first = a.accuracy, let second = b.accuracy { sample.accuracy = max(first, second) }
      if let first = a.altitude, let second = b.altitude {
        sample.altitude = first + weight * (second - first)
      }
    }
  }

  private func heading(_ place: GeoKnots.Place) -> (Double, GeoSample.Source) {
    switch place {
    case .measured(let index), .held(let index):
      return (Self.wrappedHeading(headings[index].degrees), place.source)
    case .between(let index, let weight):
      let (a, b) = (headings[index].degrees, headings[index + 1].degrees)
      // Exactly opposite headings are interpolated through -180.
      let turn = Self.remainder(b - a + 540) - 180
      return (Self.wrappedHeading(a + weight * turn), place.source)
    }
  }

  /// The longitude in −180 ≤ longitude < 180.
  private static func wrappedLongitude(_ degrees: Double) -> Double {
    if degrees >= 180 { return degrees - 360 }
    if degrees < -180 { return wrappedFromBelow(degrees + 360) }
    return degrees
  }

  /// A value slightly below −180 rounds to 180, which must become −180.
  private static func wrappedFromBelow(_ degrees: Double) -> Double {
    degrees >= 180 ? degrees - 360 : degrees
  }

  /// The heading in 0 ≤ heading < 360; what rounds to 360 becomes 0.
  private static func wrappedHeading(_ degrees: Double) -> Double {
    let wrapped = remainder(degrees)
    return wrapped >= 360 ? 0 : wrapped
  }

  /// `degrees` modulo 360, never negative.
  private static func remainder(_ degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    // Adding zero turns -0 into 0.
    return rest < 0 ? rest + 360 : rest + 0
  }
}

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
    let low = knots.partitioningIndex { $0[keyPath: time] > moment }
    guard low > 0 else { return .held(0) }
    let before = knots[low - 1][keyPath: time]
    if before == moment { return .measured(low - 1) }
    guard low < knots.count else { return .held(low - 1) }
    let span = knots[low][keyPath: time] - before
    if span > GeoTrackSampler.longestInterpolationNanoseconds { return .held(low - 1) }
    return .between(low - 1, weight: Double(moment - before) / Double(span))
  }
}

/// Position and heading at one time.
public struct GeoSample: Hashable, Sendable {
  /// How a value was obtained.
  public enum Source: String, Sendable {
    /// A value was recorded at exactly this time.
    case measured
    /// Interpolated between two recorded values.
    case interpolated
    /// The nearest recorded value.
    case held
  }

  /// Degrees, ±90; `nil` without any position.
  public var latitude: Double?
  /// Degrees, ±180; `nil` without any position.
  public var longitude: Double?
  /// Radius in meters; `nil` = unknown.
  public var accuracy: Double?
  /// Meters above mean sea level; `nil` = unknown.
  public var altitude: Double?
  /// Degrees clockwise from true north, 0 ≤ heading < 360; `nil` without any heading.
  public var heading: Double?
  /// How the position was obtained; without a position, the heading; `nil` without both.
  public var source: Source?
}
