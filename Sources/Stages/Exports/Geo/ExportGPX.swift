import Captures
import Core
import Engine

/// Writes a GPX 1.1 track, and a way point per frame.
enum ExportGPX: GeoExport {
  static let name = "export-gpx"
  static let version = 5
  static let sentence =
    "GPX 1.1 track of the recorded positions, and a way point per frame; needs a position."
  static let parameters = CommonParameters.selection + PickParameters.picking

  /// Namespace of `course` and `accuracy_horizontal`, for which GPX has no element.
  static let ownNamespace = "urn:scanmill:track:1"

  static func run(_ context: StageContext) throws -> StageResult {
    let source = try GeoTrackSource(context)
    let file = try context.staging.create("track.gpx")
    var xml = try XMLStream()
    xml.begin(
      "gpx",
      [
        ("version", "1.1"), ("creator", "scanmill"),
        ("xmlns", "http://www.topografix.com/GPX/1/1"), ("xmlns:scanmill", ownNamespace),
      ])
    writeHeader(source, &xml)
    let names = try source.places(context) { place in
      write(place.point, as: "wpt", name: place.name, &xml)
      try xml.drain(from: 1 << 16) { try file.append($0) }
    }
    try writeTrack(source, &xml, file)
    xml.finish()
    try xml.drain { try file.append($0) }
    try file.finish()

    let readme = readme(
      "Track in GPX 1.1",
      "track.gpx holds the track and, as way points, the places of the frames, named by their numbers like the "
        + "pictures in color/, without an ending.",
      opening: ("gpxpy.parse(open('track.gpx'))", "Python; or any program for maps"),
      hasFrames: true, source
    ) {
      "Heading and accuracy have no element in GPX 1.1: they are course (degrees) and accuracy_horizontal "
        + "(meters) in extensions, namespace \(ownNamespace). A longitude of 180 is written -180."
      if source.hasAltitude { "ele: meters above mean sea level, as the phone reported them." }
    }
    return try ExportFolder(context).finish(source.stated(context, names: names), readme)
  }

  private static func writeHeader(_ source: GeoTrackSource, _ xml: inout XMLStream) {
    xml.begin("metadata")
    xml.element("name", source.title)
    xml.element("desc", source.description)
    if let user = source.user {
      xml.begin("author")
      xml.element("name", user)
      xml.end()
    }
    xml.element("time", source.start)
    xml.end()
  }

  private static func writeTrack(
    _ source: GeoTrackSource, _ xml: inout XMLStream, _ file: StagedFile
  ) throws {
    xml.begin("trk")
    xml.element("name", source.title)
    xml.element("src", source.device)
    for segment in source.segments {
      xml.begin("trkseg")
      for point in segment {
        write(point, as: "trkpt", name: nil, &xml)
        try xml.drain(from: 1 << 16) { try file.append($0) }
      }
      xml.end()
    }
    xml.end()
  }

  /// Writes children in the order of the schema: elevation, time, name, extensions last.
  private static func write(
    _ point: TrackPoint, as element: String, name: String?, _ xml: inout XMLStream
  ) {
    xml.begin(
      element,
      [
        ("lat", point.place.latitude.plainText ?? ""),
        ("lon", point.place.longitudeBelow180.plainText ?? ""),
      ])
    xml.element("ele", point.altitude.flatMap(\.plainText))
    xml.element("time", point.time)
    xml.element("name", name)
    let course = point.heading.flatMap(\.plainText)
    let accuracy = point.accuracy.flatMap(\.plainText)
    if course != nil || accuracy != nil {
      xml.begin("extensions")
      xml.element("scanmill:course", course)
      xml.element("scanmill:accuracy_horizontal", accuracy)
      xml.end()
    }
    xml.end()
  }
}
