import Glibc

/// Simplifies a track in the plane to a limited number of points. A point is kept if its distance
/// to the last kept one exceeds the tolerance, which grows when there are too many points. Turning
/// points farther out than the tolerance are never lost.
struct TrackSketch {
  struct Point: Hashable {
    var x: Double
    var y: Double
    /// Whether it is not connected to the previous point, because tracking was lost in between.
    var isAfterJump: Bool
  }

  private(set) var points: [Point] = []
  private(set) var count = 0
  /// Length of the track in meters, without jumps.
  private(set) var length = 0.0
  private(set) var low = (x: Double.infinity, y: Double.infinity)
  private(set) var high = (x: -Double.infinity, y: -Double.infinity)
  private(set) var last: Point?
  private var tolerance: Double
  private let most: Int

  init(tolerance: Double = 0.002, most: Int = 3000) {
    self.tolerance = tolerance
    self.most = max(16, most)
  }

  mutating func add(x: Double, y: Double, isAfterJump: Bool = false, step: Double? = nil) {
    guard x.isFinite, y.isFinite else { return }
    let point = Point(x: x, y: y, isAfterJump: isAfterJump && count > 0)
    if let last, !point.isAfterJump { length += step ?? hypot(x - last.x, y - last.y) }
    count += 1
    low = (min(low.x, x), min(low.y, y))
    high = (max(high.x, x), max(high.y, y))
    last = point
    keep(point)
    if points.count > most {
      let old = points
      points = []
      tolerance *= 2
      for point in old { keep(point) }
      // If all points are jumps, they are thinned too.
      if points.count > most {
        points = points.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      }
    }
  }

  private mutating func keep(_ point: Point) {
    if let kept = points.last, !point.isAfterJump,
      hypot(point.x - kept.x, point.y - kept.y) < tolerance
    {
      return
    }
    points.append(point)
  }

  /// Size of the track, meters.
  var extent: (x: Double, y: Double) {
    count > 0 ? (high.x - low.x, high.y - low.y) : (0, 0)
  }
}
