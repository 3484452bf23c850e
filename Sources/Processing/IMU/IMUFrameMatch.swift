import Core

/// The inertial samples of one frame.
public struct IMUFrameMatch: Hashable, Sendable {
  /// Canonical index of the frame.
  public var frame: Int
  var timestamp: Timestamp
  /// Matching samples, sorted by time, then by sensor.
  public var rows: [Row] = []
  /// One entry per sensor, including those without rows, in the order of the sensors.
  public var counts: [Count] = []

  /// A sample and its time relative to the frame.
  public struct Row: Hashable, Sendable {
    public var sample: IMUSample
    /// Sample time − frame time; negative before the frame.
    public var offsetNanoseconds: Int64
    /// Index in the matcher's samples; `nil` for interpolated values.
    public var index: Int?
  }

  /// How many rows of a sensor a frame has, and their first and last offset (`nil` without rows).
  public struct Count: Hashable, Sendable {
    public var sensor: Int
    public var samples = 0
    public var firstOffsetNanoseconds: Int64?
    public var lastOffsetNanoseconds: Int64?
  }
}
