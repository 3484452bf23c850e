import Media
import Core
import SystemPackage

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
    let meaning = VISLAMSensorNames.sensor(name)
    if meaning == nil {
      let unknown = sensors.count { !VISLAMSensorNames.isKnown($0) }
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
