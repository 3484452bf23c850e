/// The part of `imu.csv` in the truth: counts by sensor type, the first and the last rows.
struct MotionRows {
  private var samples: [String: Int] = [:]
  private var total = 0
  private var first: [JSONTree] = []
  private var last: [JSONTree] = []
  private static let kept = 5

  /// Adds the sensors of one time in the order of the table. Times must be ascending.
  mutating func add(nanoseconds: Int64, _ values: [(String, Vector3)]) {
    for (sensor, value) in values {
      samples[sensor, default: 0] += 1
      total += 1
      let row: JSONTree = [
        .integer(nanoseconds), .text(sensor), .number(value.x), .number(value.y), .number(value.z),
      ]
      if first.count < Self.kept { first.append(row) }
      last.append(row)
      if last.count > Self.kept { last.removeFirst() }
    }
  }

  var counts: JSONTree { .object(samples.mapValues { JSONTree($0) }) }

  var json: JSONTree {
    [
      "counts": counts, "rows": JSONTree(total), "first": .array(first), "last": .array(last),
    ]
  }
}
