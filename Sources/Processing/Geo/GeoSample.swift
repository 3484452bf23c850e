/// Position and heading at one time.
public struct GeoSample: Hashable, Sendable {
  /// Where a value comes from.
  public enum Source: String, Sendable {
    /// A value was recorded at exactly this time.
    case measured
    /// Between two recorded values.
    case interpolated
    /// The nearest recorded value, kept.
    case held
  }

  /// Degrees, ±90; `nil` without any position.
  public var latitude: Double?
  /// Degrees, ±180; `nil` without any position.
  public var longitude: Double?
  /// Radius in meters; `nil` = unknown.
  public var accuracy: Double?
  /// Degrees clockwise from true north, 0 ≤ heading < 360; `nil` without any heading.
  public var heading: Double?
  /// Speaks for the position; without any position, for the heading; `nil` without both.
  public var source: Source?

  public init() {}
}
