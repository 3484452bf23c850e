import Captures
import Core
import Engine

/// Writes a KML track for globes: `gx:Track` with times, a line without.
enum ExportKML: GeoExport {
  static let name = "export-kml"
  static let version = 4
  static let sentence =
    "KML track of the recorded positions for Google Earth and other globes; needs a position."
  static let parameters: [ParameterDescription] = []

  static func run(_ context: StageContext) throws -> StageResult {
    let source = try GeoTrackSource(context)
    let file = try context.staging.create("track.kml")
    var xml = try XMLStream()
    xml.begin(
      "kml",
      [
        ("xmlns", "http://www.opengis.net/kml/2.2"),
        ("xmlns:gx", "http://www.google.com/kml/ext/2.2"),
      ])
    xml.begin("Document")
    xml.element("name", source.title)
    xml.element("description", description(source))
    xml.begin("Placemark")
    xml.element("name", source.title)
    let hasTimes = source.segments.allSatisfy { $0.allSatisfy { $0.time != nil } }
    if hasTimes {
      try writeTracks(source.segments, &xml, file)
    } else {
      try writeLines(source.segments, &xml, file)
    }
    xml.end()
    xml.end()
    xml.end()
    xml.finish()
    try xml.drain { try file.append($0) }
    try file.finish()

    let readme = readme(
      "Track in KML", "track.kml holds the track.",
      opening: ("track.kml", "Open it with Google Earth or another globe"), hasFrames: false,
      source
    ) {
      "gx:coord is longitude, latitude, altitude; the altitude is "
        + (source.hasAltitude
          ? "in meters above mean sea level, 0 where it is unknown, and not used"
          : "0 and not used")
        + " (clampToGround). gx:angles is the heading, with tilt and roll 0."
    }
    return try ExportFolder(context).finish(source.stated(context, names: nil), readme)
  }

  private static func description(_ source: GeoTrackSource) -> String {
    ([source.description] + [source.device, source.user].compactMap { $0 })
      .joined(separator: "\n")
  }

  private static func writeTracks(
    _ segments: [[TrackPoint]], _ xml: inout XMLStream, _ file: StagedFile
  ) throws {
    let isMany = segments.count > 1
    if isMany {
      xml.begin("gx:MultiTrack")
      // No line across a pause.
      xml.element("gx:interpolate", "0")
    }
    for segment in segments {
      xml.begin("gx:Track")
      xml.element("altitudeMode", "clampToGround")
      for point in segment { try write("when", point.time ?? "", &xml, file) }
      for point in segment {
        let place = [point.place.longitude, point.place.latitude].compactMap(\.plainText)
        let altitude = point.altitude.flatMap(\.plainText) ?? "0"
        try write("gx:coord", (place + [altitude]).joined(separator: " "), &xml, file)
      }
      // There must be as many headings as points: all or none are known.
      if segment.allSatisfy({ $0.heading != nil }) {
        for point in segment {
          let heading = point.heading.flatMap(\.plainText) ?? ""
          try write("gx:angles", heading + " 0 0", &xml, file)
        }
      }
      xml.end()
    }
    if isMany { xml.end() }
  }

  private static func write(
    _ element: String, _ text: String, _ xml: inout XMLStream, _ file: StagedFile
  ) throws {
    xml.element(element, text)
    try xml.drain(from: 1 << 16) { try file.append($0) }
  }

  /// Writes tracks without times: lines, or points for segments with only one.
  private static func writeLines(
    _ segments: [[TrackPoint]], _ xml: inout XMLStream, _ file: StagedFile
  ) throws {
    let isMany = segments.count > 1
    if isMany { xml.begin("MultiGeometry") }
    for segment in segments {
      xml.begin(segment.count > 1 ? "LineString" : "Point")
      if segment.count > 1 { xml.element("tessellate", "1") }
      xml.element("altitudeMode", "clampToGround")
      xml.begin("coordinates")
      for (index, point) in segment.enumerated() {
        let place = [point.place.longitude, point.place.latitude].compactMap(\.plainText)
        xml.text((index > 0 ? " " : "") + place.joined(separator: ","))
        try xml.drain(from: 1 << 16) { try file.append($0) }
      }
      xml.end()
      xml.end()
    }
    if isMany { xml.end() }
  }
}

extension GeoExport {
  /// The README of a track.
  ///
  /// - Parameters:
  ///   - content: the file with the track.
  ///   - conventions: those of the format.
  static func readme(
    _ title: String, _ content: String, opening: (String, String), hasFrames: Bool,
    _ source: GeoTrackSource, @ListBuilder<String> conventions: () -> [String]
  ) -> ExportReadme {
    ExportReadme(title) {
      content
      "The track has \(source.segments.reduce(0) { $0 + $1.count }) points: the positions that carried new information, "
        + "not the repeats that the recorder writes between fixes. A pause of more than 10 s begins a new segment "
        + "(\(source.segments.count) here)."
    } opening: {
      opening
    } conventions: {
      "Positions in degrees (WGS 84), accuracy: radius in meters, heading: degrees clockwise from true "
        + "north, as the phone reported them. What was not recorded is left out, never 0."
      for convention in conventions() { convention }
    } remarks: {
      if let reason = source.missingTimes { "There are no times of day: \(reason)." }
      if source.hasOneFix, hasFrames {
        "Of the frames, only the first has the single fix of the capture."
      }
      "This folder holds personal data: the place"
        + (source.device == nil ? "" : ", the device")
        + (source.user == nil ? "." : ", who recorded it.")
      if !hasFrames { "This format has no frames: export-geojson and export-gpx have them." }
    }
  }
}
