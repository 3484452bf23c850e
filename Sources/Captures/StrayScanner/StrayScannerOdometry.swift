import Media
import Core
import SystemPackage

/// The rows of `odometry.csv`, at most one per frame, by frame number.
struct StrayScannerOdometry: Sendable {
  struct Row: Sendable {
    var frame: Int
    var time: Timestamp
    /// `nil` if a number is not finite.
    var pose: Pose?
    var intrinsics: Intrinsics?
  }

  private static let poseColumns = ["x", "y", "z", "qx", "qy", "qz", "qw"]
  private static let mandatory = ["timestamp", "frame"] + poseColumns
  private static let intrinsicsColumns = ["fx", "fy", "cx", "cy"]
  private static let ignored = ["distortion_center_x", "distortion_center_y"]
  /// Powers of ten from seconds to nanoseconds.
  static let secondsScale = 9

  let path: FilePath
  private(set) var rows: [Row] = []
  /// Whether the rows have neither time nor number, as those of versions 1.0 and 1.1: row k is frame k, and its time is
  /// nominal until the video tells it.
  private(set) var isEarly = false
  private(set) var damage = RowDamage()
  /// Number of rows of a frame that an earlier one already has.
  private(set) var repeated = 0
  private(set) var isCut: Bool
  private(set) var unknownColumns: [String] = []

  /// Number of rows whose pose is not finite.
  var nonFinite: Int { rows.count { $0.pose == nil } }

  /// Throws when a column is missing, when no row can be read, and when the clock did not advance.
  /// A file without rows is no error.
  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    var table = try RowTable(path, ownOrder: Self.poseColumns, isRow: Self.isEarlyRow)
    isEarly = Set(table.columns.keys) == Set(Self.poseColumns)
    if isEarly {
      // The app joined the rows by line ends when the recording stopped: none is behind the last.
      table.acceptOpenEnd()
    } else {
      table = try RowTable(path, ownOrder: Self.mandatory, isRow: Self.isRow)
    }
    isCut = table.isCut
    // A header that is cut itself does not tell the columns, and has no rows.
    guard table.hasContent, !(table.hasHeader && table.isCut) else { return }
    let columns = try table.indices(of: isEarly ? Self.poseColumns : Self.mandatory)
    let camera = Self.intrinsicsColumns.map { table.columns[$0] }
    unknownColumns = table.unknownColumns(
      Set(Self.mandatory + Self.intrinsicsColumns + Self.ignored))
    try table.readRows(needed: columns) { table in
      let place = table.rowCount - 1
      let row =
        isEarly
        ? Self.row(Row(frame: place, time: Self.nominalTime(place)), table, columns, [])
        : Self.row(table, columns, camera)
      if let row { rows.append(row) }
      return row != nil
    }
    isCut = table.isCut
    table.leaveOutFar(&rows) { $0.time }
    damage = table.damage
    guard !rows.isEmpty || !table.hasRows else { throw table.unusable }
    if let stale = TimeMajority.stale(rows.map(\.time)) {
      throw CaptureError(
        file: path,
        problem:
          "\(stale.count) of \(rows.count) rows have the same time: the clock did not advance",
        correction: "leave the file out to process the pictures without times")
    }
    keepFirstOfEachFrame()
  }

  /// Drops rows whose number is above `most`.
  mutating func believe(upTo most: Int) {
    let read = rows.count
    rows.removeAll { $0.frame > most }
    damage.corrupt += read - rows.count
  }

  private mutating func keepFirstOfEachFrame() {
    // Swift's sort is stable: of equal numbers the first in the file stays first.
    rows.sort { $0.frame < $1.frame }
    var kept: [Row] = []
    kept.reserveCapacity(rows.count)
    for row in rows where kept.last?.frame != row.frame { kept.append(row) }
    repeated = rows.count - kept.count
    rows = kept
  }

  /// The time of a frame at the rate of the app, 60 per second, rounded to nearest.
  private static func nominalTime(_ frame: Int) -> Timestamp {
    Timestamp(nanoseconds: (Int64(clamping: frame) &* 100_000_000 &+ 3) / 6)
  }

  /// Gives early rows the times of the pictures, nanoseconds from the first one; rows behind the last picture keep
  /// theirs.
  mutating func takeTimes(ofPictures times: [Int64]) {
    for index in rows.indices where times.indices.contains(rows[index].frame) {
      rows[index].time = Timestamp(nanoseconds: times[rows[index].frame])
    }
  }

  /// `nil` for a row that is broken.
  private static func row(_ table: RowTable, _ columns: [Int], _ camera: [Int?]) -> Row? {
    guard
      let time = table.scanner.timestamp(inCell: columns[0], scale: secondsScale),
      time.nanoseconds > 0,
      let frame = NumberedFiles.number(table.scanner.text(inCell: columns[1]).utf8)
    else { return nil }
    return row(Row(frame: frame, time: time), table, Array(columns[2...]), camera)
  }

  /// Adds pose and intrinsics to a row; `nil` for one that is broken.
  private static func row(
    _ start: Row, _ table: RowTable, _ columns: [Int], _ camera: [Int?]
  ) -> Row? {
    var numbers: [Double] = []
    var isFinite = true
    for column in columns {
      switch table.number(column) {
      case .finite(let value): numbers.append(value)
      case .nonFinite: isFinite = false
      case .empty, .invalid: return nil
      }
    }
    let cells = camera.map(table.number)
    guard !cells.contains(.invalid) else { return nil }
    var row = start
    row.intrinsics = Intrinsics(usable: cells.map(\.value))
    if isFinite {
      // The app wrote OpenCV's camera axes already.
      let orientation = Quaternion(x: numbers[3], y: numbers[4], z: numbers[5], w: numbers[6])
      if [orientation.x, orientation.y, orientation.z, orientation.w].allSatisfy(\.isFinite) {
        row.pose = Pose(position: Array(numbers[..<3]), orientation: orientation)
      }
    }
    return row
  }

  /// Whether a line is a row of an early table, which may have no header.
  private static func isEarlyRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount == poseColumns.count
      && (0..<poseColumns.count).allSatisfy {
        ![.invalid, .empty].contains(scanner.number(inCell: $0))
      }
  }

  /// Whether a line without header is a row in the app's column order.
  private static func isRow(_ scanner: CSVScanner) -> Bool {
    scanner.cellCount >= mandatory.count
      && scanner.timestamp(inCell: 0, scale: secondsScale) != nil
      && NumberedFiles.number(scanner.text(inCell: 1).utf8) != nil
      && (2..<mandatory.count).allSatisfy { scanner.number(inCell: $0) != .invalid }
  }
}
