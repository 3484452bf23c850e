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
  private(set) var damage = RowDamage()
  private(set) var isCut: Bool
  private(set) var unknownColumns: [String] = []
  /// Whether accelerations are in g, as in versions from 2025 on.
  private(set) var isInGravities = false

  /// Throws when a column is missing, when no row can be read, and when the clock did not advance.
  /// A file without rows is no error.
  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    var table = try RowTable(path, ownOrder: Self.columns, isRow: Self.isRow)
    isCut = table.isCut
    guard table.hasContent, !(table.hasHeader && table.isCut) else { return }
    let columns = try table.indices(of: Self.columns)
    unknownColumns = table.unknownColumns(Set(Self.columns))
    try table.readRows(needed: columns) { take(&$0, columns) }
    hasRows = table.hasRows
    isCut = table.isCut
    table.leaveOutFar(&rows) { $0.time }
    damage = table.damage
    guard !rows.isEmpty || !hasRows else { throw table.unusable }
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

  /// Takes the current row; `false` if it cannot be used.
  private mutating func take(_ table: inout RowTable, _ columns: [Int]) -> Bool {
    guard
      let time = table.scanner.timestamp(
        inCell: columns[0], scale: StrayScannerOdometry.secondsScale), time.nanoseconds > 0
    else { return false }
    switch (table.triple(Array(columns[1...3])), table.triple(Array(columns[4...6]))) {
    case (.values(let ax, let ay, let az), .values(let rx, let ry, let rz)):
      rows.append(Row(time: time, acceleration: (ax, ay, az), rotation: (rx, ry, rz)))
    case (.empty, _), (.invalid, _), (_, .empty), (_, .invalid): return false
    default: table.damage.nonFinite += 1
    }
    return true
  }

  /// Whether a line without header is a row in the app's column order.
  private static func isRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount >= columns.count
      && scanner.timestamp(inCell: 0, scale: StrayScannerOdometry.secondsScale) != nil
      && (1..<columns.count).allSatisfy { scanner.number(inCell: $0) != .invalid }
  }
}
