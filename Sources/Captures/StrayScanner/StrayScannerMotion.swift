import Media
import Core
import SystemPackage

/// The rows of `imu.csv`: acceleration and angular velocity at one time each.
struct StrayScannerMotion: Sendable {
  struct Row: Sendable {
    var time: Timestamp
    var acceleration: (x: Double, y: Double, z: Double)
    var rotation: (x: Double, y: Double, z: Double)
  }

  private static let columns = [
    "timestamp", "a_x", "a_y", "a_z", "alpha_x", "alpha_y", "alpha_z",
  ]
  let path: FilePath
  /// In file order.
  private(set) var rows: [Row] = []
  /// Whether there is any row, usable or not.
  private(set) var hasRows = false
  private(set) var corrupt = 0
  private(set) var firstCorruptLine = 0
  private(set) var nonFinite = 0
  private(set) var isCut: Bool
  private(set) var unknownColumns: [String] = []
  /// Whether accelerations are in g, as in versions from 2025 on.
  private(set) var isInGravities = false

  /// Throws when a column is missing, when no row can be read, and when the clock did not advance.
  /// A file without rows is no error.
  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    var table = try ColumnTable(path, ownOrder: Self.columns, isRow: Self.isRow)
    isCut = table.isCut
    guard table.hasContent, !(table.hasHeader && table.isCut) else { return }
    let columns = try table.indices(of: Self.columns)
    unknownColumns = table.unknownColumns(Set(Self.columns))
    while let verdict = try table.nextRow(needed: columns) {
      switch verdict {
      case .usable:
        hasRows = true
        take(table, columns)
      case .corrupt:
        hasRows = true
        drop(table)
      case .cut: break
      }
    }
    isCut = table.isCut
    let bounds = TimeBounds(rows.lazy.map(\.time))
    let read = rows.count
    rows.removeAll { !bounds.contains($0.time) }
    corrupt += read - rows.count
    guard !rows.isEmpty || !hasRows else {
      throw CaptureError(
        file: path, problem: "none of its \(table.rowCount) rows can be read",
        remedy: ColumnTable.remedy(firstCorruptLine: firstCorruptLine),
        correction: ColumnTable.correction(surplusRows: table.surplusRows))
    }
    if let stale = TimeMajority.stale(rows.map(\.time)) {
      throw CaptureError(
        file: path,
        problem:
          "\(stale.count) of \(rows.count) rows have the same time: the clock did not advance",
        correction: "leave the file out to process the rest: its samples cannot be placed in time")
    }
    // A phone in the hand measures about one g.
    isInGravities =
      medianMagnitude.map { $0 < PlausibleValues.accelerationWithGravity.lowerBound } ?? false
  }

  /// The samples of two sensors, in m/s² and rad/s, and the names of the sensors. Only the raw
  /// gyroscope comes with accelerations in g.
  var samples: (samples: [IMUSample], sensors: [String]) {
    let scale = isInGravities ? StandardGravity.metersPerSecondSquared : 1
    var samples: [IMUSample] = []
    samples.reserveCapacity(2 * rows.count)
    for row in rows {
      let (a, r) = (row.acceleration, row.rotation)
      samples.append(
        IMUSample(
          timestamp: row.time, sensor: 0, x: a.x * scale, y: a.y * scale, z: a.z * scale))
      samples.append(IMUSample(timestamp: row.time, sensor: 1, x: r.x, y: r.y, z: r.z))
    }
    return (samples, ["accelerometer", isInGravities ? "gyroscope" : "rotationRate"])
  }

  private var medianMagnitude: Double? {
    let magnitudes = rows.map { row in
      let a = row.acceleration
      return (a.x * a.x + a.y * a.y + a.z * a.z).squareRoot()
    }
    return magnitudes.isEmpty ? nil : Median.of(magnitudes)
  }

  private mutating func take(_ table: ColumnTable, _ columns: [Int]) {
    guard
      let time = table.scanner.timestamp(
        inCell: columns[0], scale: StrayScannerOdometry.secondsScale), time.nanoseconds > 0
    else { return drop(table) }
    let triples = (
      table.triple(Array(columns[1...3])), table.triple(Array(columns[4...6]))
    )
    switch triples {
    case (.values(let ax, let ay, let az), .values(let rx, let ry, let rz)):
      rows.append(Row(time: time, acceleration: (ax, ay, az), rotation: (rx, ry, rz)))
    case (.empty, _), (.invalid, _), (_, .empty), (_, .invalid): drop(table)
    default: nonFinite += 1
    }
  }

  private mutating func drop(_ table: ColumnTable) {
    corrupt += 1
    if firstCorruptLine == 0 { firstCorruptLine = table.scanner.lineNumber }
  }

  /// Whether a line without header is a row in the app's column order.
  private static func isRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount >= columns.count
      && scanner.timestamp(inCell: 0, scale: StrayScannerOdometry.secondsScale) != nil
      && (1..<columns.count).allSatisfy { scanner.number(inCell: $0) != .invalid }
  }
}
