import Core

/// The part of `imu.csv` in the truth: counts by sensor type, the first and the last rows.
struct MotionRows {
  /// Number of samples by sensor.
  private(set) var counts: [String: Int] = [:]
  private var total = 0
  private var first: [JSONRow] = []
  private var last: [JSONRow] = []
  private static let kept = 5

  /// Adds the sensors of one time in the order of the table. Times must be ascending.
  mutating func add(nanoseconds: Int64, _ values: [(String, Vector3)]) {
    for (sensor, value) in values {
      counts[sensor, default: 0] += 1
      total += 1
      let row: JSONRow = [nanoseconds, sensor, value.x, value.y, value.z]
      if first.count < Self.kept { first.append(row) }
      last.append(row)
      if last.count > Self.kept { last.removeFirst() }
    }
  }

  var json: JSONObject { ["counts": counts, "rows": total, "first": first, "last": last] }
}
