import Geometry

/// One entry of the geo data: a position or heading update that repeats the last value of the other.
struct StraboPoint {
  /// From the recording's start.
  var timestamp: Timestamp
  var latitude: Double
  var longitude: Double
  /// Meters; negative = the position is invalid, `nil` = unknown.
  var accuracy: Double?
  /// Degrees as recorded; negative or above 360 = invalid, `nil` = unknown.
  var heading: Double?

  /// The position, unless it is marked invalid or stands for "no fix yet".
  var position: GeoPosition? {
    let isNoFix = latitude == 0 && longitude == 0 && accuracy == 0
    guard !isNoFix, (accuracy ?? 0) >= 0 else { return nil }
    return GeoPosition(
      timestamp: timestamp, latitude: latitude, longitude: longitude, accuracy: accuracy)
  }

  /// The heading in 0 ..< 360, unless it is invalid.
  var trueHeading: GeoHeading? {
    guard let heading, (0...360).contains(heading) else { return nil }
    return GeoHeading(timestamp: timestamp, degrees: heading == 360 ? 0 : heading)
  }

  /// An entry as the file holds it, which may be anything.
  struct Written: Decodable {
    /// `nil` without usable time or coordinates.
    let point: StraboPoint?

    private enum Key: String, CodingKey {
      case timestamp, accuracy, coords, heading
    }

    init(from decoder: any Decoder) throws {
      guard let values = try? decoder.container(keyedBy: Key.self),
        let timestamp = try? values.decode(Seconds.self, forKey: .timestamp).timestamp,
        let coordinates = try? values.decode(StraboValue.self, forKey: .coords).coordinates,
        abs(coordinates.latitude) <= 90, abs(coordinates.longitude) <= 180
      else {
        point = nil
        return
      }
      point = StraboPoint(
        timestamp: timestamp, latitude: coordinates.latitude, longitude: coordinates.longitude,
        accuracy: (try? values.decode(StraboValue.self, forKey: .accuracy))?.number,
        heading: (try? values.decode(StraboValue.self, forKey: .heading))?.number)
    }
  }

  private struct Seconds: Decodable {
    var timestamp: Timestamp?

    init(from decoder: any Decoder) throws {
      timestamp = StraboNumber.seconds(try decoder.singleValueContainer())
    }
  }
}
