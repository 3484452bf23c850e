import Media
import Core

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
        lines += GeoLines.cut(line)
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
