/// The first and last rows of `imu.csv` that a reader must write, and the number of samples.
struct ScanNetInertialRows {
  private(set) var samples = 0
  private var earliest: (time: Int64, sample: InertialSample)?
  private var latest: (time: Int64, sample: InertialSample)?

  mutating func add(nanoseconds: Int64, _ sample: InertialSample) {
    samples += 1
    if earliest.map({ nanoseconds < $0.time }) ?? true { earliest = (nanoseconds, sample) }
    if latest.map({ nanoseconds > $0.time }) ?? true { latest = (nanoseconds, sample) }
  }

  var firstRows: JSONTree { Self.rows(earliest) }
  var lastRows: JSONTree { Self.rows(latest) }

  private static func rows(_ entry: (time: Int64, sample: InertialSample)?) -> JSONTree {
    guard let entry else { return [] }
    let (time, sample) = entry
    let g = InertialSensors.standardGravity
    let rows: [(String, Vector3)] = [
      ("magnetometer", sample.magneticField), ("userAcceleration", sample.userAcceleration * g),
      ("rotationRate", sample.rotationRate), ("gravity", sample.gravity * g),
      ("attitude", sample.attitude),
    ]
    return .array(
      rows.map { name, value in
        .text("\(time),\(name),\(value.x),\(value.y),\(value.z)")
      })
  }
}
