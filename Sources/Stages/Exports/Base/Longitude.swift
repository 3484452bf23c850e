/// The meridian of ±180°, which some formats write as 180 and others as -180.
enum Longitude {
  /// Longitude with -180 ≤ result < 180, as GPX requires: 180 becomes -180.
  static func below180(_ degrees: Double) -> Double { degrees == 180 ? -180 : degrees }

  /// Whether the shorter way between two longitudes leads across ±180°.
  static func crosses180(_ a: Double, _ b: Double) -> Bool { abs(b - a) > 180 }
}

/// A point of a line, in degrees.
struct GeoPoint: Hashable {
  var longitude: Double
  var latitude: Double

  /// Whether both are the same point on earth: longitudes 180 and -180 are equal.
  func isSamePoint(as other: GeoPoint) -> Bool {
    latitude == other.latitude
      && Longitude.below180(longitude) == Longitude.below180(other.longitude)
  }

  /// Cuts a line where it crosses ±180°. Each side of a cut gets a point at exactly ±180, with the
  /// latitude interpolated along the shorter way. A piece that would be a single point is left out:
  /// the other side of the cut has that point. Cost: linear.
  static func cut(_ line: [GeoPoint]) -> [[GeoPoint]] {
    var pieces: [[GeoPoint]] = []
    var piece: [GeoPoint] = []
    for point in line {
      if let last = piece.last, Longitude.crosses180(last.longitude, point.longitude) {
        let side: Double = last.longitude > 0 ? 180 : -180
        let latitude = latitude(at: side, last, point)
        append(GeoPoint(longitude: side, latitude: latitude), to: &piece)
        pieces.append(piece)
        piece = [GeoPoint(longitude: 0 - side, latitude: latitude)]
      }
      append(point, to: &piece)
    }
    pieces.append(piece)
    return pieces.count == 1 ? pieces : pieces.filter { $0.count > 1 }
  }

  /// Appends a point unless the piece ends with it already, which happens at a cut.
  private static func append(_ point: GeoPoint, to piece: inout [GeoPoint]) {
    if abs(point.longitude) == 180, piece.last == point { return }
    piece.append(point)
  }

  /// Latitude of the point at exactly ±180 (`side`) between `a`, which is on that side, and `b`.
  private static func latitude(at side: Double, _ a: GeoPoint, _ b: GeoPoint) -> Double {
    let toCut = abs(side - a.longitude)
    let behindCut = abs(0 - side - b.longitude)
    let length = toCut + behindCut
    guard length > 0 else { return a.latitude }
    return a.latitude + (b.latitude - a.latitude) * (toCut / length)
  }
}
