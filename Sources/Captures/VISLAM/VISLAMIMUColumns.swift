import Media
import SystemPackage

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
          scale: isInG ? StandardGravity.metersPerSecondSquared : 1))
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
