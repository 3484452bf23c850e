/// The meridian of ±180°, which some formats write one way, some the other.
public enum Longitude {
  /// -180 ≤ longitude < 180, as GPX asks for: 180 becomes -180.
  public static func below180(_ degrees: Double) -> Double { degrees == 180 ? -180 : degrees }

  /// Whether the shorter way between two longitudes leads across ±180°.
  public static func crosses180(_ a: Double, _ b: Double) -> Bool { abs(b - a) > 180 }
}

/// A place on a line, in degrees.
public struct GeoPoint: Hashable, Sendable {
  public var longitude: Double
  public var latitude: Double

  public init(longitude: Double, latitude: Double) {
    self.longitude = longitude
    self.latitude = latitude
  }

  /// Whether both are one place: 180 and -180 are.
  public func isPlace(of other: GeoPoint) -> Bool {
    latitude == other.latitude
      && Longitude.below180(longitude) == Longitude.below180(other.longitude)
  }
}

/// Lines that do not cross ±180°.
public enum GeoLines {
  /// Cuts a line where it crosses ±180°. Each side of a cut has a point of exactly ±180 and the latitude
  /// interpolated on the shorter way. What would be a single point on one side of a cut is on the other side
  /// already and left out. Cost: linear.
  public static func cut(_ line: [GeoPoint]) -> [[GeoPoint]] {
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

  /// A point at the cut itself is there already.
  private static func append(_ point: GeoPoint, to piece: inout [GeoPoint]) {
    if abs(point.longitude) == 180, piece.last == point { return }
    piece.append(point)
  }

  /// Of the point of exactly ±180 between `a`, on that side, and `b`.
  private static func latitude(at side: Double, _ a: GeoPoint, _ b: GeoPoint) -> Double {
    let toCut = abs(side - a.longitude)
    let behindCut = abs(0 - side - b.longitude)
    let length = toCut + behindCut
    guard length > 0 else { return a.latitude }
    return a.latitude + (b.latitude - a.latitude) * (toCut / length)
  }
}
