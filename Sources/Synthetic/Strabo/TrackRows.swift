import Core

/// The rows of `geo.csv` that a reader must write, computed from the points by the rules of the
/// format.
struct TrackRows {
  private struct Knot {
    var time: Int64
    var latitude = 0.0
    var longitude = 0.0
    var accuracy = 0.0
    var heading = 0.0
  }

  private let positions: [Knot]
  private let headings: [Knot]
  private let held: TrackPoint
  /// If knots are further apart, the earlier one is held.
  private static let longestPause: Int64 = 10_000_000_000

  /// - Parameters:
  ///   - points: in file order, without stale ones.
  ///   - held: the position and heading in `capture-info.json`.
  init(points: [TrackPoint], held: TrackPoint) {
    self.held = held
    // A stable sort by time; of points at one time the last in the file is used.
    var latest: [Int64: TrackPoint] = [:]
    for point in points {
      if let time = Timestamp(decimalSeconds: "\(point.seconds)") {
        latest[time.nanoseconds] = point
      }
    }
    let sorted = latest.sorted { $0.key < $1.key }.map { time, point in
      (
        point,
        Knot(
          time: time, latitude: point.latitude, longitude: point.longitude,
          accuracy: point.accuracy, heading: point.heading == 360 ? 0 : point.heading)
      )
    }
    positions = Self.knots(sorted.filter { $0.0.hasFix }.map { $0.1 }) {
      $0.latitude == $1.latitude && $0.longitude == $1.longitude && $0.accuracy == $1.accuracy
    }
    headings = Self.knots(sorted.filter { $0.0.hasHeading }.map { $0.1 }) {
      $0.heading == $1.heading
    }
  }

  /// The first, every one that differs from the one before, the last.
  private static func knots(_ all: [Knot], areEqual: (Knot, Knot) -> Bool) -> [Knot] {
    all.indices.filter {
      $0 == 0 || $0 == all.count - 1 || !areEqual(all[$0 - 1], all[$0])
    }.map { all[$0] }
  }

  /// Time, latitude, longitude, accuracy, heading, source.
  func row(at time: Int64) -> JSONTree {
    var cells: [JSONTree] = [.integer(time), nil, nil, nil, nil, nil]
    if let (a, b, weight, source) = Self.place(time, in: headings) {
      cells[4] = .number(Self.heading(a.heading, b.heading, weight))
      cells[5] = .text(source)
    } else if held.hasHeading {
      cells[4] = .number(held.heading == 360 ? 0 : held.heading)
      cells[5] = "held"
    }
    if let (a, b, weight, source) = Self.place(time, in: positions) {
      cells[1] = .number(a.latitude + (b.latitude - a.latitude) * weight)
      cells[2] = .number(Self.longitude(a.longitude, b.longitude, weight))
      cells[3] = .number(weight == 0 ? a.accuracy : max(a.accuracy, b.accuracy))
      cells[5] = .text(source)
    } else {
      cells[1] = .number(held.latitude)
      cells[2] = .number(held.longitude)
      cells[5] = "held"
    }
    return .array(cells)
  }

  /// The knots around a time, the fraction of the way between them, and the source of the value.
  private static func place(
    _ time: Int64, in knots: [Knot]
  ) -> (Knot, Knot, Double, String)? {
    guard let first = knots.first, let last = knots.last else { return nil }
    if let exact = knots.first(where: { $0.time == time }) { return (exact, exact, 0, "measured") }
    if time < first.time { return (first, first, 0, "held") }
    if time > last.time { return (last, last, 0, "held") }
    guard let next = knots.firstIndex(where: { $0.time > time }), next > 0 else { return nil }
    let (a, b) = (knots[next - 1], knots[next])
    if b.time - a.time > longestPause { return (a, a, 0, "held") }
    return (a, b, Double(time - a.time) / Double(b.time - a.time), "interpolated")
  }

  private static func longitude(_ a: Double, _ b: Double, _ weight: Double) -> Double {
    var step = b - a
    if step > 180 { step -= 360 }
    if step < -180 { step += 360 }
    let value = a + step * weight
    if value >= 180 { return value - 360 }
    return value < -180 ? value + 360 : value
  }

  private static func heading(_ a: Double, _ b: Double, _ weight: Double) -> Double {
    let turned = (b - a + 540).truncatingRemainder(dividingBy: 360)
    let step = (turned < 0 ? turned + 360 : turned) - 180
    var value = (a + step * weight).truncatingRemainder(dividingBy: 360)
    if value < 0 { value += 360 }
    return value >= 360 ? 0 : value
  }
}
