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
