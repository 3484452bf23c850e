/// A position on earth at a time.
public struct GeoPosition: Hashable, Sendable {
  public var timestamp: Timestamp
  /// Degrees, ±90.
  public var latitude: Double
  /// Degrees, ±180.
  public var longitude: Double
  /// Radius of the horizontal uncertainty in meters; `nil` = unknown.
  public var accuracy: Double?
  /// Meters above mean sea level, as phones state it; `nil` = unknown.
  public var altitude: Double?

  public init(
    timestamp: Timestamp, latitude: Double, longitude: Double, accuracy: Double?,
    altitude: Double? = nil
  ) {
    self.timestamp = timestamp
    self.latitude = latitude
    self.longitude = longitude
    self.accuracy = accuracy
    self.altitude = altitude
  }
}

/// A true heading at a time, degrees clockwise from north, 0 ≤ heading < 360.
public struct GeoHeading: Hashable, Sendable {
  public var timestamp: Timestamp
  public var degrees: Double

  public init(timestamp: Timestamp, degrees: Double) {
    self.timestamp = timestamp
    self.degrees = degrees
  }
}

/// The valid positions and headings of a capture, in file order, and fallback values for captures
/// without any.
public struct GeoTrack: Hashable, Sendable {
  public var positions: [GeoPosition]
  public var headings: [GeoHeading]
  /// Latitude and longitude in degrees, for all frames when `positions` is empty.
  public var heldLatitude: Double?
  public var heldLongitude: Double?
  /// Heading in degrees, for all frames when `headings` is empty.
  public var heldHeading: Double?

  /// Whether any position has an altitude.
  public var hasAltitude: Bool { positions.contains { $0.altitude != nil } }

  public init(positions: [GeoPosition] = [], headings: [GeoHeading] = []) {
    self.positions = positions
    self.headings = headings
  }
}

/// One sample of one sensor. The unit depends on the sensor type: m/s², rad/s, µT or rad.
public struct IMUSample: Hashable, Sendable {
  public var timestamp: Timestamp
  /// Index into the list of sensors that goes with the samples.
  public var sensor: Int
  public var x: Double
  public var y: Double
  public var z: Double

  public init(timestamp: Timestamp, sensor: Int, x: Double, y: Double, z: Double) {
    self.timestamp = timestamp
    self.sensor = sensor
    self.x = x
    self.y = y
    self.z = z
  }
}
