import Core
import Media
import SystemPackage

/// The samples of a table sorted per sensor, damage counted.
extension VISLAMIMUTable {
  /// Smallest step that is a gap.
  private static let smallestGapNanoseconds: Int64 = 50_000_000

  /// Sorts the samples and reports disorder, duplicates, gaps and unknown sensors. Throws when no row
  /// is usable, or when more than half of all rows have one time.
  func stream(
    _ convention: IMUConvention, _ warnings: WarningCollector
  ) throws(CaptureError) -> IMUStream {
    try refuseStaleTimes(warnings)
    for (sensor, order) in zip(sensors, order) { order.report(to: warnings, subject: sensor) }
    reportUnknownSensors(warnings)
    let form =
      switch columns?.form {
      case .wide: columns?.isFused == true ? "csv-fused" : "csv-wide"
      default: "csv-long"
      }
    var (stream, duplicates) = IMUStream.sorting(
      samples, sensorNames: sensors,
      description: StreamDescription(file: file, encoding: form), convention: convention)
    if columns?.isFused == true { stream.recordedAcceleration = .g }
    for sensor in stream.sensors {
      warnings.add(
        .timestampsDuplicate, sensor, count: duplicates[sensor] ?? 0,
        "samples of \(sensor) at the time of an earlier one; the first in the file was kept")
    }

    var gaps = 0
    var timesBySensor = [[Timestamp]](repeating: [], count: stream.sensors.count)
    for sample in stream.samples { timesBySensor[sample.sensor].append(sample.timestamp) }
    for (index, (sensor, times)) in zip(stream.sensors, timesBySensor).enumerated() {
      let steps = TimeSteps(times)
      let median = steps.medianNanoseconds ?? 0
      let (triple, overflow) = median.multipliedReportingOverflow(by: 3)
      let threshold = max(overflow ? .max : triple, Self.smallestGapNanoseconds)
      stream.gapThresholdNanoseconds[index] = threshold
      if stream.description.rateHz == nil { stream.description.rateHz = steps.rateHz }
      guard Self.isKnown(sensor) else { continue }
      let found = steps.nanoseconds.count { $0 > threshold }
      gaps += found
      warnings.add(
        .imuGap, sensor, count: found,
        "steps of \(sensor) longer than \(threshold / 1_000_000) ms")
    }
    stream.description.gaps = gaps
    stream.description.firstTimestamp = stream.samples.first?.timestamp
    stream.description.lastTimestamp = stream.samples.last?.timestamp
    return stream
  }

  private func reportUnknownSensors(_ warnings: WarningCollector) {
    let unknown = sensors.indices.filter { !Self.isKnown(sensors[$0]) }
    guard !unknown.isEmpty else { return }
    var rows = [Int](repeating: 0, count: sensors.count)
    for sample in samples { rows[sample.sensor] += 1 }
    for sensor in unknown {
      warnings.add(
        .unknownKey, sensors[sensor], count: rows[sensor],
        "rows of the unknown sensor type \(sensors[sensor]); kept under that name")
    }
  }

  private func refuseStaleTimes(_ warnings: WarningCollector) throws(CaptureError) {
    guard !samples.isEmpty else {
      throw unusable ?? CaptureError(file: path, problem: "no rows")
    }
    var majority = TimeMajority()
    for sample in samples { majority.add(sample.timestamp) }
    var perSensor = [Int](repeating: 0, count: sensors.count)
    for sample in samples where sample.timestamp == majority.candidate {
      perSensor[sample.sensor] += 1
    }
    let same = perSensor.reduce(0, +)
    // Sensors of one callback share a time, which alone does not mean that the clock did not
    // advance.
    guard same > samples.count / 2, perSensor.contains(where: { $0 > 1 }) else { return }
    let what =
      "\(same) of \(samples.count) samples have the same time, \(majority.candidate?.nanoseconds ?? 0)"
    warnings.add(.timestampsStale, file, what)
    throw CaptureError(
      file: path, problem: what + ": the clock did not advance",
      correction: "leave the file out to process the rest: its samples cannot be placed in time")
  }
}

extension IMUStream {
  /// Frames before the first or after the last sample of at least one inertial sensor.
  func framesOutside(_ frames: [CaptureFrame]) -> FramesOutside {
    let times = frames.compactMap(\.timestamp)
    let spans = inertialSpans.map(\.span)
    var outside = FramesOutside(frames: times.count, rateHz: TimeSteps(times).rateHz)
    for time in times {
      if spans.contains(where: { time < $0.lowerBound }) {
        outside.before += 1
      } else if spans.contains(where: { time > $0.upperBound }) {
        outside.after += 1
      }
    }
    return outside
  }
}

/// Sensor names in tables, and sensor types.
extension VISLAMIMUTable {
  /// The spellings of the app itself.
  private static let own: Set<String> = [
    "accelerometer", "gyroscope", "magnetometer", "userAcceleration", "rotationRate", "gravity",
  ]

  /// Other names, in lower case, without `_`, `-` and blanks.
  private static let others = [
    "accelerometer": "accelerometer", "accel": "accelerometer", "acc": "accelerometer",
    "a": "accelerometer",
    "gyroscope": "gyroscope", "gyro": "gyroscope", "gyr": "gyroscope", "g": "gyroscope",
    "w": "gyroscope",
    "magnetometer": "magnetometer", "mag": "magnetometer", "m": "magnetometer",
    "useracceleration": "userAcceleration", "linearacceleration": "userAcceleration",
    "rotationrate": "rotationRate",
    "gravity": "gravity", "grav": "gravity",
  ]

  /// The sensor type of `name`, and whether the spelling is the app's; `nil` for an unknown name,
  /// which is kept as it is.
  private static func sensor(named name: String) -> (sensor: String, isOwnSpelling: Bool)? {
    if own.contains(name) { return (name, true) }
    let plain = name.lowercased().filter { !"_- \t".contains($0) }
    return others[plain].map { ($0, false) }
  }

  private static func isKnown(_ sensor: String) -> Bool { own.contains(sensor) }
}

/// The samples of an IMU table in file order, and the problems of unusable rows.
struct VISLAMIMUTable {
  /// Limit on unknown sensor names; more of them mean damage.
  private static let mostUnknownSensors = 64
  /// Number of spellings that are cached to find the sensor of the next row.
  private static let mostSpellings = 128

  let path: FilePath
  let file: String
  /// `nil` for a file without any row.
  private(set) var columns: VISLAMIMUColumns?
  private(set) var samples: [IMUSample] = []
  /// Sensor names by `IMUSample.sensor`.
  private(set) var sensors: [String] = []
  /// Whether a known sensor has another spelling than the app's.
  private(set) var hasForeignSpelling = false
  /// The power of ten that converts the file's times to nanoseconds.
  private(set) var timeScale = 0
  private(set) var rowCount = 0
  private(set) var damage = RowDamage()
  /// The error of a table none of whose rows can be used.
  private(set) var unusable: CaptureError?
  /// Whether the file ends inside a line.
  private(set) var isCut: Bool
  /// Steps in time per sensor.
  private(set) var order: [TimeOrder] = []

  private var spellings: [(bytes: [UInt8], sensor: Int)] = []

  /// Reads a table; throws when a column is missing. Memory: the samples, not the text.
  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    var table = try RowTable(
      path, ownOrder: VISLAMIMUColumns.ownOrder, isRow: VISLAMIMUColumns.isRow)
    file = table.file
    isCut = table.isCut
    // A header that is cut itself does not determine the columns, and has no rows.
    guard table.hasContent, !(table.hasHeader && table.isCut) else { return }
    let columns = try VISLAMIMUColumns(table)
    let needed = columns.needed
    if columns.unitIsOpen { timeScale = try Self.timeScale(of: table, columns) }
    try table.readRows(needed: needed) { take(&$0, columns) }
    rowCount = table.rowCount
    isCut = table.isCut
    table.leaveOutFar(&samples) { $0.timestamp }
    damage = table.damage
    unusable = table.unusable
    order = Array(repeating: TimeOrder(), count: sensors.count)
    for sample in samples { order[sample.sensor].add(sample.timestamp) }
    if table.hasRows { self.columns = columns }
  }

  /// Warns of problems of rows and header.
  func report(to warnings: WarningCollector) {
    warnings.addCut(file, isCut)
    damage.report(to: warnings, file)
    warnings.add(
      .nonFiniteValue, "imu", count: damage.nonFinite,
      "rows of \(file) with a value that is not finite")
    warnings.addUnknown(columns: columns?.unknown ?? [], file)
  }

  /// Takes the current row; `false` if it cannot be used.
  private mutating func take(_ table: inout RowTable, _ columns: VISLAMIMUColumns) -> Bool {
    guard let time = table.scanner.timestamp(inCell: columns.timestamp, scale: timeScale),
      time.nanoseconds > 0
    else { return false }
    switch columns.form {
    case .long(let sensorColumn, let xyz):
      switch table.triple(xyz) {
      case .values(let x, let y, let z):
        guard let sensor = sensor(table.scanner, sensorColumn) else { return false }
        samples.append(IMUSample(timestamp: time, sensor: sensor, x: x, y: y, z: z))
      case .nonFinite: table.damage.nonFinite += 1
      case .empty, .invalid: return false
      }
    case .wide(let vectors):
      let triples = vectors.map { table.triple($0.xyz) }
      if triples.contains(.invalid) { return false }
      if triples.contains(.nonFinite) {
        table.damage.nonFinite += 1
        return true
      }
      for (vector, triple) in zip(vectors, triples) {
        guard case .values(let x, let y, let z) = triple else { continue }
        samples.append(
          IMUSample(
            timestamp: time, sensor: index(of: vector.sensor), x: x * vector.scale,
            y: y * vector.scale, z: z * vector.scale))
      }
    }
    return true
  }

  /// The sensor that the row names; `nil` if it names none, or if there are too many names.
  private mutating func sensor(_ scanner: CSVScanner, _ column: Int) -> Int? {
    if let known = spellings.first(where: { scanner.cell(column, holds: $0.bytes) }) {
      return known.sensor
    }
    let name = scanner.text(inCell: column)
    guard !name.isEmpty else { return nil }
    let meaning = Self.sensor(named: name)
    if meaning == nil {
      let unknown = sensors.count { !Self.isKnown($0) }
      guard unknown < Self.mostUnknownSensors else { return nil }
    }
    if let meaning, !meaning.isOwnSpelling { hasForeignSpelling = true }
    let sensor = index(of: meaning?.sensor ?? name)
    if spellings.count < Self.mostSpellings { spellings.append((Array(name.utf8), sensor)) }
    return sensor
  }

  private mutating func index(of sensor: String) -> Int {
    if let index = sensors.firstIndex(of: sensor) { return index }
    sensors.append(sensor)
    return sensors.count - 1
  }

  /// The unit of a column called `timestamp`, from the median step of the first sensor: at least
  /// 10⁶ is nanoseconds, 10³ microseconds, 1 milliseconds, less is seconds. Cost: one pass over the
  /// file.
  private static func timeScale(
    of table: RowTable, _ columns: VISLAMIMUColumns
  ) throws(CaptureError) -> Int {
    var table = table
    var first: String?
    var times: [Double] = []
    let needed = columns.needed
    while let row = try table.nextRow(needed: needed) {
      guard row == .usable, case .finite(let time) = table.number(columns.timestamp) else {
        continue
      }
      if case .long(let sensor, _) = columns.form {
        let name = table.scanner.text(inCell: sensor)
        if first == nil { first = name }
        guard name == first else { continue }
      }
      times.append(time)
    }
    guard let step = Median.upper(zip(times.dropFirst(), times).map { $0 - $1 }) else { return 0 }
    switch step {
    case 1e6...: return 0
    case 1e3...: return 3
    case 1...: return 6
    default: return 9
    }
  }
}

/// The columns of an IMU table.
struct VISLAMIMUColumns {
  enum Form {
    /// One row per sample and sensor: sensor name, x, y, z.
    case long(sensor: Int, xyz: [Int])
    /// One row per time: one vector per sensor.
    case wide([Vector])
  }

  /// Three columns of one sensor.
  struct Vector {
    var sensor: String
    var xyz: [Int]
    /// Factor to the unit of the tables.
    var scale = 1.0
  }

  static let ownOrder = ["timestamp_ns", "sensor_type", "x", "y", "z"]
  private static let biasColumns: Set<String> = ["bias_x", "bias_y", "bias_z", "accuracy"]
  private static let wideNames = [
    ["accel_x", "ax"], ["accel_y", "ay"], ["accel_z", "az"],
    ["gyro_x", "gx", "rx"], ["gyro_y", "gy", "ry"], ["gyro_z", "gz", "rz"],
  ]
  /// CoreMotion's record of all its values, which states accelerations in g. Both groups of names tell
  /// it: gravity is in the columns that hold the gyroscope where `rx` is absent.
  private static let fusedSensors: [(sensor: String, letter: Character, isInG: Bool)] = [
    ("userAcceleration", "a", true), ("rotationRate", "r", false), ("gravity", "g", true),
    ("magnetometer", "m", false),
  ]

  var timestamp: Int
  /// Whether the time column is called `timestamp`, so that its unit must be found from the steps.
  var unitIsOpen: Bool
  var form: Form
  /// Whether a row is CoreMotion's fused record.
  var isFused = false
  /// Whether the columns differ from the app's own five.
  var isSibling: Bool
  var unknown: [String]

  /// Columns that a row must have.
  var needed: [Int] {
    switch form {
    case .long(let sensor, let xyz): [timestamp, sensor] + xyz
    case .wide(let vectors): [timestamp] + vectors.flatMap(\.xyz)
    }
  }

  /// Finds the columns of `table`; the error names the missing ones.
  init(_ table: RowTable) throws(CaptureError) {
    let columns = table.columns
    guard let time = columns["timestamp_ns"] ?? columns["timestamp"] else {
      throw table.lacks(["timestamp_ns"], of: Self.ownOrder)
    }
    timestamp = time
    unitIsOpen = columns["timestamp_ns"] == nil
    let timeName = unitIsOpen ? "timestamp" : "timestamp_ns"

    let long = ["sensor_type", "x", "y", "z"]
    let wide = Self.wideNames.map { names in names.first { columns[$0] != nil } ?? names[0] }
    let missingLong = long.filter { columns[$0] == nil }
    let missingWide = wide.filter { columns[$0] == nil }
    let fused = Self.fusedVectors(columns)
    if let fused {
      form = .wide(fused.vectors)
      isFused = true
      isSibling = false
      unknown = table.unknownColumns(fused.names.union([timeName]))
    } else if missingLong.isEmpty {
      let found = long.compactMap { columns[$0] }
      form = .long(sensor: found[0], xyz: Array(found[1...]))
      isSibling = unitIsOpen || !Self.biasColumns.isDisjoint(with: columns.keys)
      unknown = table.unknownColumns(Set(long + [timeName]).union(Self.biasColumns))
    } else if missingWide.isEmpty {
      let found = wide.compactMap { columns[$0] }
      form = .wide([
        Vector(sensor: "accelerometer", xyz: Array(found[..<3])),
        Vector(sensor: "gyroscope", xyz: Array(found[3...])),
      ])
      isSibling = true
      unknown = table.unknownColumns(Set(wide + [timeName]))
    } else {
      // The missing columns are those of the closer form.
      let isWide = columns["sensor_type"] == nil && missingWide.count < wide.count
      throw table.lacks(isWide ? missingWide : missingLong, of: Self.ownOrder)
    }
  }

  /// The vectors of a fused record and the names of their columns; `nil` for another header. Only the
  /// magnetic field may be absent.
  private static func fusedVectors(
    _ columns: [String: Int]
  ) -> (vectors: [Vector], names: Set<String>)? {
    var vectors: [Vector] = []
    var names: Set<String> = []
    for (sensor, letter, isInG) in fusedSensors {
      let own = ["x", "y", "z"].map { "\(letter)\($0)" }
      let found = own.compactMap { columns[$0] }
      guard found.count == 3 else {
        if sensor == "magnetometer" { continue }
        return nil
      }
      vectors.append(
        Vector(
          sensor: sensor, xyz: found,
          scale: isInG ? AccelerationUnit.g.inMetersPerSecondSquared : 1))
      names.formUnion(own)
    }
    return (vectors, names)
  }

  /// Whether a line without header is a row in the app's column order.
  static func isRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount >= ownOrder.count && scanner.timestamp(inCell: 0) != nil
      && !scanner.isEmpty(cell: 1) && scanner.number(inCell: 1) == .invalid
      && (2...4).allSatisfy { cell in
        switch scanner.number(inCell: cell) {
        case .finite, .nonFinite: true
        case .empty, .invalid: false
        }
      }
  }
}
