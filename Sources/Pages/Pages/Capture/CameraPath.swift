import Engine
import Glibc

/// The camera's track seen from above: `tables/poses.csv`, read once, in bounded memory.
struct CameraPath {
  private(set) var sketch = TrackSketch()
  private(set) var count = 0
  /// Lowest position along the upward axis, meters.
  private(set) var lowest = Double.infinity
  private(set) var highest = -Double.infinity
  /// The frames before the first jumps.
  private(set) var jumps: [Int] = []
  private(set) var jumpCount = 0
  private(set) var problems: [String] = []

  private static let names = ["frame", "timestamp_ns", "tx", "ty", "tz"]
  /// Speed limit of hand-held motion, meters per second: the threshold of `pose-jump`.
  private static let fastest = 10.0

  init?(_ table: PublishedTable?, isZUp: Bool) {
    guard let table else { return nil }
    var path = CameraPath()
    var before: (frame: Int, time: Int64?, position: [Double])?
    path.problems = table.read(columns: Self.names) { row in
      let position = [row.number(2), row.number(3), row.number(4)].compactMap(\.self)
      // Positions beyond a million meters are not real.
      guard position.count == 3, position.allSatisfy({ abs($0) < 1e6 }) else { return }
      let frame = row.nanoseconds(0).flatMap { Int(exactly: $0) } ?? path.count
      let time = row.nanoseconds(1)
      var step = 0.0
      var isAfterJump = false
      if let before {
        let d = zip(position, before.position).map { $0 - $1 }
        step = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).squareRoot()
        let seconds = time.flatMap { now in
          before.time.map { (Double(now) - Double($0)) / 1e9 }
        }
        // 1/60 s without a time, as in the formats.
        isAfterJump = step > Self.fastest * max(seconds ?? 1.0 / 60, 1e-3)
        if isAfterJump {
          path.jumpCount += 1
          if path.jumps.count < 20 { path.jumps.append(before.frame) }
        }
      }
      let up = isZUp ? position[2] : position[1]
      path.lowest = min(path.lowest, up)
      path.highest = max(path.highest, up)
      path.sketch.add(
        x: position[0], y: isZUp ? position[1] : position[2], isAfterJump: isAfterJump, step: step)
      path.count += 1
      before = (frame, time, position)
    }
    self = path
  }

  private init() {}
}

/// The track over ground: `tables/geo.csv`, read once, in bounded memory.
struct GeoPath {
  /// East and north of the first position, meters.
  private(set) var sketch = TrackSketch(tolerance: 0.05)
  private(set) var count = 0
  private(set) var sources: [String: Int] = [:]
  private(set) var first: (latitude: Double, longitude: Double)?
  private(set) var last: (latitude: Double, longitude: Double)?
  private(set) var accuracy: ClosedRange<Double>?
  private(set) var problems: [String] = []

  private static let names = ["frame", "latitude_deg", "longitude_deg", "accuracy_m", "source"]
  /// Mean radius of the Earth, meters (IUGG).
  private static let radius = 6_371_008.8

  init?(_ table: PublishedTable?) {
    guard let table else { return nil }
    var path = GeoPath()
    path.problems = table.read(columns: Self.names) { row in
      guard let latitude = row.number(1), let longitude = row.number(2), abs(latitude) <= 90,
        abs(longitude) <= 360
      else { return }
      let origin = path.first ?? (latitude, longitude)
      if path.first == nil { path.first = origin }
      path.last = (latitude, longitude)
      // The shorter way around.
      var east = longitude - origin.longitude
      if east > 180 { east -= 360 }
      if east < -180 { east += 360 }
      let meters = Self.radius * Double.pi / 180
      path.sketch.add(
        x: east * meters * cos(origin.latitude * .pi / 180),
        y: (latitude - origin.latitude) * meters)
      path.count += 1
      let source = row.text(4)
      if path.sources[source] != nil || path.sources.count < 8 {
        path.sources[source, default: 0] += 1
      }
      if let value = row.number(3), value >= 0 {
        let old = path.accuracy ?? value...value
        path.accuracy = min(old.lowerBound, value)...max(old.upperBound, value)
      }
    }
    self = path
  }

  private init() {}
}
