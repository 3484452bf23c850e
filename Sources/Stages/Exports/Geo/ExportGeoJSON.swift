import Captures
import Core
import Engine
import Media
import Processing

/// Writes a GeoJSON collection (RFC 7946): the track, and a point per frame. **Longitude before
/// latitude.**
enum ExportGeoJSON: GeoExport {
  static let name = "export-geojson"
  static let version = 4
  static let sentence =
    "GeoJSON of the recorded track, cut at ±180°, and a point per frame; needs a position."
  static let parameters = CommonParameters.selection + PickParameters.picking

  static func run(_ context: StageContext) throws -> StageResult {
    let source = try GeoTrackSource(context)
    let file = try context.staging.create("track.geojson")
    var json = JSONStream()
    json.beginObject(lines: true)
    json.member("type", "FeatureCollection")
    json.key("features")
    json.beginArray(lines: true)
    for shape in GeoJSONShape.shapes(of: source.segments) {
      write(shape, source, &json)
      try json.drain { try file.append($0) }
    }
    let names = try source.places(context) { place in
      write(place, hasAltitude: source.hasAltitude, &json)
      if json.pendingByteCount > 1 << 16 { try json.drain { try file.append($0) } }
    }
    json.end()
    json.end()
    json.endLine()
    try json.drain { try file.append($0) }
    try file.finish()

    let readme = readme(
      "Track in GeoJSON",
      "track.geojson holds the track, then one point per frame with frame, timestamp_ns, time, heading_deg, "
        + "accuracy_m, source (measured, interpolated, held).",
      opening: ("geojson.loads(open('track.geojson').read())", "Python; or drop it on a map"),
      hasFrames: true, source
    ) {
      "[longitude, latitude], as RFC 7946 asks for. A line across ±180° is cut there. null: not known."
      if source.hasAltitude {
        "altitude_m: meters above mean sea level, as the phone reported them."
      }
    }
    return try ExportFolder(context).finish(source.stated(context, names: names), readme)
  }

  private static func write(
    _ shape: GeoJSONShape, _ source: GeoTrackSource, _ json: inout JSONStream
  ) {
    beginFeature(shape.type, &json)
    shape.writeCoordinates(&json)
    json.end()
    json.key("properties")
    json.beginObject()
    json.member("name", source.title)
    json.member("description", source.description)
    json.member("device", source.device)
    json.member("user", source.user)
    json.member("recorded_at", source.start)
    json.end()
    json.end()
  }

  /// The third coordinate would be above the ellipsoid (RFC 7946), which phones do not state.
  private static func write(
    _ place: FramePosition, hasAltitude: Bool, _ json: inout JSONStream
  ) {
    beginFeature("Point", &json)
    json.value([place.point.place.longitude, place.point.place.latitude])
    json.end()
    json.key("properties")
    json.beginObject()
    json.member("frame", place.frame)
    json.member("timestamp_ns", place.timestamp?.nanoseconds)
    json.member("time", place.point.time)
    json.member("heading_deg", place.point.heading)
    json.member("accuracy_m", place.point.accuracy)
    if hasAltitude { json.member("altitude_m", place.point.altitude) }
    json.member("source", place.source.rawValue)
    json.end()
    json.end()
  }

  /// Begins a feature up to the coordinates of its geometry, whose object the caller must end.
  private static func beginFeature(_ type: String, _ json: inout JSONStream) {
    json.beginObject()
    json.member("type", "Feature")
    json.key("geometry")
    json.beginObject()
    json.member("type", type)
    json.key("coordinates")
  }
}

/// A geometry of GeoJSON.
enum GeoJSONShape: Equatable {
  case points([GeoPoint])
  case lines([[GeoPoint]])

  /// The shapes of a track: its lines, cut at ±180°, and single points for fixes that belong to no
  /// line, since a line has at least two distinct positions. One point for a track with one
  /// position.
  static func shapes(of segments: [[TrackPoint]]) -> [GeoJSONShape] {
    var lines: [[GeoPoint]] = []
    var lonely: [GeoPoint] = []
    for segment in segments {
      let line = segment.map(\.place)
      guard let first = line.first else { continue }
      if line.contains(where: { !$0.isSamePoint(as: first) }) {
        lines += GeoPoint.cut(line)
      } else if !lonely.contains(where: { $0.isSamePoint(as: first) }) {
        lonely.append(first)
      }
    }
    lonely.removeAll { point in lines.contains { $0.contains { $0.isSamePoint(as: point) } } }
    return (lines.isEmpty ? [] : [.lines(lines)]) + (lonely.isEmpty ? [] : [.points(lonely)])
  }

  var type: String {
    switch self {
    case .points(let points): points.count == 1 ? "Point" : "MultiPoint"
    case .lines(let lines): lines.count == 1 ? "LineString" : "MultiLineString"
    }
  }

  func writeCoordinates(_ json: inout JSONStream) {
    switch self {
    case .points(let points):
      guard points.count > 1 else { return points.forEach { Self.write($0, &json) } }
      Self.write(points, &json)
    case .lines(let lines):
      guard lines.count > 1 else { return lines.forEach { Self.write($0, &json) } }
      json.beginArray()
      for line in lines { Self.write(line, &json) }
      json.end()
    }
  }

  private static func write(_ points: [GeoPoint], _ json: inout JSONStream) {
    json.beginArray()
    for point in points { write(point, &json) }
    json.end()
  }

  private static func write(_ point: GeoPoint, _ json: inout JSONStream) {
    json.value([point.longitude, point.latitude])
  }
}

/// A point of a line, in degrees.
struct GeoPoint: Hashable {
  var longitude: Double
  var latitude: Double

  /// The longitude with -180 ≤ result < 180, as GPX requires: 180 becomes -180.
  var longitudeBelow180: Double { longitude == 180 ? -180 : longitude }

  /// Whether both are the same point on earth: longitudes 180 and -180 are equal.
  func isSamePoint(as other: GeoPoint) -> Bool {
    latitude == other.latitude && longitudeBelow180 == other.longitudeBelow180
  }

  /// Cuts a line where it crosses ±180°. Each side of a cut gets a point at exactly ±180, with the
  /// latitude interpolated along the shorter way. A piece that would be a single point is left out:
  /// the other side of the cut has that point. Cost: linear.
  static func cut(_ line: [GeoPoint]) -> [[GeoPoint]] {
    var pieces: [[GeoPoint]] = []
    var piece: [GeoPoint] = []
    for point in line {
      // The shorter way leads across ±180°.
      if let last = piece.last, abs(point.longitude - last.longitude) > 180 {
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
