import Captures
import Core
import Engine

/// The README of the geo exports.
enum GeoReadme {
  static func text(
    _ title: String, contents: [String], opening: (String, String), hasFrames: Bool,
    _ source: GeoTrackSource
  ) -> ExportReadme {
    var readme = ExportReadme(title)
    let knots = source.segments.reduce(0) { $0 + $1.count }
    readme.contents =
      contents + [
        "The track has \(knots) points: the positions that carried new information, not the repeats that the "
          + "recorder writes between fixes. A pause of more than 10 s begins a new segment "
          + "(\(source.segments.count) here)."
      ]
    readme.opening = [opening]
    readme.conventions = [
      "Positions in degrees (WGS 84), accuracy: radius in meters, heading: degrees clockwise from true "
        + "north, as the phone reported them. What was not recorded is left out, never 0."
    ]
    if let reason = source.missingTimes {
      readme.remarks.append("There are no times of day: \(reason).")
    }
    if source.hasOneFix, hasFrames {
      readme.remarks.append("Of the frames, only the first has the single fix of the capture.")
    }
    readme.remarks.append(
      "This folder holds personal data: the place"
        + (source.device == nil ? "" : ", the device")
        + (source.user == nil ? "." : ", who recorded it."))
    return readme
  }
}
