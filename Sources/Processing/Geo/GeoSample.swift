/// Position and heading at one time.
public struct GeoSample: Hashable, Sendable {
  /// How a value was obtained.
  public enum Source: String, Sendable {
    /// A value was recorded at exactly this time.
    case measured
    /// Interpolated between two recorded values.
    case interpolated
    /// The nearest recorded value.
    case held
  }

  /// Degrees, ±90; `nil` without any position.
  public var latitude: Double?
  /// Degrees, ±180; `nil` without any position.
  public var longitude: Double?
  /// Radius in meters; `nil` = unknown.
  public var accuracy: Double?
  /// Meters above mean sea level; `nil` = unknown.
  public var altitude: Double?
  /// Degrees clockwise from true north, 0 ≤ heading < 360; `nil` without any heading.
  public var heading: Double?
  /// How the position was obtained; without a position, the heading; `nil` without both.
  public var source: Source?
}
