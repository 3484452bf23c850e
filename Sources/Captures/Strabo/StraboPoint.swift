import Core

/// One entry of the geo data: an update of position or heading, which repeats the last value of the
/// other.
struct StraboPoint {
  /// Time since the recording's start.
  var timestamp: Timestamp
  var latitude: Double
  var longitude: Double
  /// Meters; negative if the position is invalid, `nil` = unknown.
  var accuracy: Double?
  /// Degrees as recorded; negative or above 360 if invalid, `nil` = unknown.
  var heading: Double?

  /// The position, unless it is invalid or means "no fix yet".
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

  /// An entry of the file, which may be any JSON value.
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
