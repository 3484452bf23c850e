import Core
import Media
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct StrayScannerTables {
  let files: StrayScannerFiles
  let color: StreamState<CaptureVideo>
  let depth: StreamState<PictureFiles<UInt16>>
  let confidence: StreamState<PictureFiles<UInt8>>
  /// Absent without the file, and for one without rows.
  let odometry: StreamState<StrayScannerOdometry>
  /// Whether `odometry.csv` ends inside a line, also if it has no rows.
  let isOdometryCut: Bool
  /// Absent without the file, and for one without rows.
  let motion: StreamState<StrayScannerMotion>
  let isMotionCut: Bool
  /// The camera matrix, which belongs to the last frame.
  let matrix: Intrinsics?
  let generation: StrayScannerGeneration

  init(_ files: StrayScannerFiles) {
    self.files = files
    let (rowName, motionName) = (StrayScannerFiles.odometryName, StrayScannerFiles.motionName)
    let table = Self.read(rowName, files, try StrayScannerOdometry(files.path(rowName)))
    // Names and rows together tell how large a number can be.
    let records =
      (files.depth.value?.files.files.count ?? 0) + (files.confidence.value?.files.files.count ?? 0)
      + (table.value?.rows.count ?? 0)
    let most = NumberedFiles.mostBelieved(records: records)
    depth = files.depth.map { .depth($0.files.believing(upTo: most), in: $0.folder) }
    confidence = files.confidence.map {
      .confidence($0.files.believing(upTo: most), in: $0.folder, isARKit: true)
    }
    isOdometryCut = table.value?.isCut ?? false
    let video = Self.video(files)
    odometry = table.havingRows("\(rowName) has no rows") { odometry in
      odometry.believe(upTo: most)
      if odometry.isEarly { odometry.takeTimes(ofPictures: video.value?.pictureNanoseconds ?? []) }
      return !odometry.rows.isEmpty
    }
    let motion = Self.read(motionName, files, try StrayScannerMotion(files.path(motionName)))
    isMotionCut = motion.value?.isCut ?? false
    self.motion = motion.havingRows("\(motionName) has no rows") {
      !$0.rows.isEmpty
    }
    matrix =
      files.contains(StrayScannerFiles.matrixName)
      ? Intrinsics(strayScanner: files.path(StrayScannerFiles.matrixName)) : nil
    generation = StrayScannerGeneration(
      isEarly: table.value?.isEarly ?? false, hasIntrinsicsColumns: files.hasIntrinsicsColumns,
      hasArrays: files.hasArrays,
      isMotionInGravities: motion.value?.isInGravities ?? false)
    color = video
  }

  private static func video(_ files: StrayScannerFiles) -> StreamState<CaptureVideo> {
    let name = StrayScannerFiles.videoName
    guard files.contains(name) else { return .absent("no \(name)") }
    return StreamState(try movie(files.path(name)))
  }

  private static func movie(_ path: FilePath) throws(CaptureError) -> CaptureVideo {
    guard let video = try CaptureVideo(path, ignoresEditList: true) else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    return video
  }

  private static func read<Table>(
    _ name: String, _ files: StrayScannerFiles,
    _ table: @autoclosure () throws(CaptureError) -> Table
  ) -> StreamState<Table> {
    files.contains(name) ? StreamState(try table()) : .absent("no \(name)")
  }
}

extension StreamState {
  /// Absent if `body` finds no rows in the value.
  fileprivate func havingRows(_ why: String, _ body: (inout Value) -> Bool) -> StreamState {
    guard case .present(var value) = self else { return self }
    return body(&value) ? .present(value) : .absent(why)
  }
}

/// The color camera's intrinsics, pixels of the video.
extension Intrinsics {
  /// The camera matrix in a CSV file, row by row.
  init?(strayScanner path: FilePath) {
    guard var scanner = try? RowTable.scanner(path) else { return nil }
    var rows: [[Double]] = []
    while rows.count < 3, (try? scanner.nextLine()) == true {
      if rows.isEmpty { scanner.delimiter = RowTable.delimiter(of: scanner.lineText) }
      let cells = (0..<scanner.cellCount).map { scanner.number(inCell: $0).value }
      guard cells.count == 3 || rows.count == 2 else { return nil }
      let numbers = cells.compactMap(\.self)
      guard numbers.count == cells.count || rows.count == 2 else { return nil }
      rows.append(numbers)
    }
    guard rows.count == 3 else { return nil }
    self.init(usable: [rows[0][0], rows[1][1], rows[0][2], rows[1][2]])
  }
}

/// The files of a capture's folder by role. Listed, not opened.
struct StrayScannerFiles {
  static let videoName = "rgb.mp4"
  static let odometryName = RowTable.poseTable
  static let motionName = "imu.csv"
  static let matrixName = "camera_matrix.csv"
  static let depthName = "depth"
  static let confidenceName = "confidence"
  private static let arrayEnding = "npy"

  /// A subfolder with one picture per frame.
  struct Pictures {
    let folder: FilePath
    var files: NumberedFiles
    /// Number of pictures that are links out of the capture; not followed.
    let outside: Int
  }

  let folder: FilePath
  private let listing: FolderListing
  /// Absent without a subfolder, and for one without pictures.
  let depth: StreamState<Pictures>
  let confidence: StreamState<Pictures>

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    listing = try CaptureError.listing(folder)
    // The PNG counts if a frame has two depth files.
    depth = Self.pictures(Self.depthName, ["png", Self.arrayEnding], listing)
    confidence = Self.pictures(Self.confidenceName, ["png"], listing)
  }

  func contains(_ name: String) -> Bool { listing.contains(name) }
  func path(_ name: String) -> FilePath { folder.appending(name: name) }
  func existing(_ names: [String]) -> [FilePath] { names.filter(contains).map(path) }

  /// Whether any depth file is a NumPy array.
  var hasArrays: Bool {
    depth.value?.files.files.contains { $0.name.lowercased().hasSuffix("." + Self.arrayEnding) }
      ?? false
  }

  /// Whether the header of `odometry.csv` has a column for the focal length, also where the rows
  /// cannot be read.
  var hasIntrinsicsColumns: Bool {
    RowTable.columns(of: Self.odometryName, in: listing).contains("fx")
  }

  /// Names with a role that are links out of the capture.
  var outside: [String] {
    listing.outside.filter {
      [
        Self.videoName, Self.odometryName, Self.motionName, Self.matrixName, Self.depthName,
        Self.confidenceName,
      ].contains($0)
    }
  }

  private static func pictures(
    _ name: String, _ endings: [String], _ listing: FolderListing
  ) -> StreamState<Pictures> {
    guard listing.subfolders.contains(name) else { return .absent("no folder \(name)") }
    let folder = listing.folder.appending(name: name)
    do throws(FileError) {
      let inner = try FolderListing(of: folder, inside: listing.folder)
      let files = NumberedFiles(inner.files, endings: endings)
      let outside = NumberedFiles(inner.outside, endings: endings).files.count
      if files.isEmpty, outside == 0 { return .absent("the folder \(name) has no pictures") }
      return .present(Pictures(folder: folder, files: files, outside: outside))
    } catch {
      return .unreadable(CaptureError(error, of: folder))
    }
  }
}

/// The rows of `imu.csv`: acceleration and angular velocity at one time each.
struct StrayScannerMotion {
  struct Row {
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
    try TimeMajority.checkAdvance(
      of: rows.map(\.time), in: path,
      correction: "leave the file out to process the rest: its samples cannot be placed in time")
    // A phone in the hand measures about one g.
    isInGravities =
      medianMagnitude.map { $0 < PlausibleValues.accelerationWithGravity.lowerBound } ?? false
  }

  /// The samples of two sensors, in m/s² and rad/s, and the names of the sensors. Only the raw
  /// gyroscope comes with accelerations in g.
  var samples: (samples: [IMUSample], sensors: [String]) {
    let scale = isInGravities ? AccelerationUnit.g.inMetersPerSecondSquared : 1
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

/// The rows of `odometry.csv`, at most one per frame, by frame number.
struct StrayScannerOdometry {
  struct Row {
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
    try TimeMajority.checkAdvance(
      of: rows.map(\.time), in: path,
      correction: "leave the file out to process the pictures without times")
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
      let frame = Self.frame(table, columns[1])
    else { return nil }
    return row(Row(frame: frame, time: time), table, Array(columns[2...]), camera)
  }

  /// Digits, or a whole number in another form, as tools write it that take the column for decimals.
  private static func frame(_ table: RowTable, _ column: Int) -> Int? {
    if let digits = NumberedFiles.number(table.scanner.text(inCell: column).utf8) { return digits }
    guard case .finite(let value) = table.number(column), value >= 0 else { return nil }
    return Int(exactly: value)
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
