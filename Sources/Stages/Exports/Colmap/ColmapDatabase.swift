import Core
import Engine

/// `database.db`: the cameras and images of the model with its ids, and a prior of each pose.
enum ColmapDatabase {
  static let name = "database.db"

  static let parameter = Parameter(
    "database", .flag, default: false,
    "Also database.db with the model's cameras and images, and positions and gravity as priors of poses, in place of "
      + "database.py."
  ).added()

  /// Who can read it.
  enum Version: String, CaseIterable {
    case first = "3.9"
    case current = "4"
  }

  static let version = Parameter(
    "databaseVersion", .choice(), default: Version.current,
    "The COLMAP that reads it. 4: 4.2 and later, with gravity. 3.9: 3.9 and later, without."
  ).added().needing(anyOf: parameter)

  /// Not invented: no app states how far off its positions are.
  static let deviation = Parameter<Double?>(
    "positionDeviation", .length(1e-6...1000),
    "Standard deviation of a position along each axis, for the covariances of the priors; absent when not given."
  ).added().needing(anyOf: parameter)

  static func problems(_ parameters: ParameterValues) -> [StageProblem] {
    guard parameters[parameter], let problem = SQLiteDatabase.problem else { return [] }
    return [StageProblem(parameter: parameter.name, problem)]
  }

  /// Writes `database.db` with the cameras and images of a model. Memory: some 300 bytes a frame.
  static func write(
    _ cameras: ColmapCameras, _ images: [ColmapImage], _ source: ExportSource,
    _ folder: ExportFolder
  ) throws {
    let version = source.context.parameters[version]
    let database = try SQLiteDatabase()
    try database.run("PRAGMA user_version = \(version == .current ? 4_020_000 : 3900)")
    for table in tables + (version == .current ? currentPriors : firstPriors) {
      try database.run(table)
    }
    try database.run("BEGIN")
    // 1: the focal length is known.
    try database.run(
      "INSERT INTO cameras VALUES (?, ?, ?, ?, ?, 1)",
      cameras.cameras.enumerated().map { index, camera in
        [
          .integer(index + 1), .integer(Int(camera.model.rawValue)), .integer(camera.width),
          .integer(camera.height), .numbers(camera.parameters),
        ]
      })
    try database.run(
      "INSERT INTO rigs VALUES (?, ?, 0)",
      cameras.cameras.indices.map { [.integer($0 + 1), .integer($0 + 1)] })
    try database.run(
      "INSERT INTO images (image_id, name, camera_id) VALUES (?, ?, ?)",
      images.map { [.integer($0.id), .text($0.name), .integer($0.camera)] })
    try database.run(
      "INSERT INTO frames VALUES (?, ?)",
      images.map { [.integer($0.id), .integer($0.camera)] })
    try database.run(
      "INSERT INTO frame_data VALUES (?, ?, ?, 0)",
      images.map { [.integer($0.id), .integer($0.id), .integer($0.camera)] })
    // Unknown values are NaN, as COLMAP writes them; it reads NULL as zeros.
    let deviation = source.context.parameters[deviation]
    let covariance = (0..<9).map { place in
      deviation.map { place % 4 == 0 ? $0 * $0 : 0 } ?? .nan
    }
    let down = source.world.down
    try database.run(
      version == .current
        // Numbered from 1, of the camera (0) that took the image.
        ? "INSERT INTO pose_priors VALUES (?1, ?1, ?2, 0, ?3, ?4, ?5, 1)"
        : "INSERT INTO pose_priors VALUES (?1, ?3, 1, ?4)",
      images.map { image in
        let cameraFromWorld = image.pose.cameraFromWorld
        let gravity = down.map { down in
          zip(cameraFromWorld.apply(to: down), cameraFromWorld.translation).map { $0 - $1 }
        }
        let values: [SQLiteDatabase.Value] = [
          .integer(image.id), .integer(image.camera), .numbers(image.pose.position.map { $0 + 0 }),
          .numbers(covariance),
        ]
        return version == .current ? values + [.numbers(gravity ?? [.nan, .nan, .nan])] : values
      })
    try database.run("COMMIT")
    try folder.write(database.bytes(), as: name)
  }

  /// For `export.json`.
  static func recorded(_ source: ExportSource) -> JSONValue {
    let parameters = source.context.parameters
    return .object([
      "covariance": .bool(parameters[deviation] != nil),
      "gravity": .bool(parameters[version] == .current && source.world.down != nil),
    ])
  }

  static func conventions(_ source: ExportSource) -> [String] {
    let parameters = source.context.parameters
    let hasGravity = parameters[version] == .current && source.world.down != nil
    return [
      "database.db (COLMAP \(parameters[version].rawValue)) holds the model's cameras, images and ids. Its priors of "
        + "poses are the positions of the cameras in the world of the model"
        + (hasGravity ? ", and the direction of gravity (down) in the axes of the camera" : "")
        + (parameters[deviation] == nil
          ? "; no covariance, because none was given (positionDeviation)." : ".")
    ]
  }

  /// As COLMAP 3.9 reads them; later versions add what they miss.
  private static let tables = [
    """
    CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT NULL,
      width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB, prior_focal_length INTEGER NOT NULL)
    """,
    """
    CREATE TABLE images (image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL UNIQUE,
      camera_id INTEGER NOT NULL, prior_qw REAL, prior_qx REAL, prior_qy REAL, prior_qz REAL, prior_tx REAL,
      prior_ty REAL, prior_tz REAL, CONSTRAINT image_id_check CHECK(image_id >= 0 and image_id < 2147483647),
      FOREIGN KEY(camera_id) REFERENCES cameras(camera_id))
    """,
    "CREATE UNIQUE INDEX index_name ON images(name)",
    """
    CREATE TABLE rigs (rig_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, ref_sensor_id INTEGER NOT NULL,
      ref_sensor_type INTEGER NOT NULL)
    """,
    "CREATE UNIQUE INDEX rig_ref_sensor_assignment ON rigs(ref_sensor_id, ref_sensor_type)",
    """
    CREATE TABLE frames (frame_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, rig_id INTEGER NOT NULL,
      FOREIGN KEY(rig_id) REFERENCES rigs(rig_id) ON DELETE CASCADE)
    """,
    """
    CREATE TABLE frame_data (frame_id INTEGER NOT NULL, data_id INTEGER NOT NULL, sensor_id INTEGER NOT NULL,
      sensor_type INTEGER NOT NULL, FOREIGN KEY(frame_id) REFERENCES frames(frame_id) ON DELETE CASCADE)
    """,
    "CREATE UNIQUE INDEX frame_sensor_assignment ON frame_data(data_id, sensor_type)",
  ]

  private static let firstPriors = [
    """
    CREATE TABLE pose_priors (image_id INTEGER PRIMARY KEY NOT NULL, position BLOB, coordinate_system INTEGER NOT NULL,
      position_covariance BLOB, FOREIGN KEY(image_id) REFERENCES images(image_id) ON DELETE CASCADE)
    """
  ]

  private static let currentPriors = [
    """
    CREATE TABLE pose_priors (pose_prior_id INTEGER PRIMARY KEY NOT NULL, corr_data_id INTEGER NOT NULL,
      corr_sensor_id INTEGER NOT NULL, corr_sensor_type INTEGER NOT NULL, position BLOB, position_covariance BLOB,
      gravity BLOB, coordinate_system INTEGER NOT NULL)
    """,
    """
    CREATE UNIQUE INDEX pose_prior_data_assignment
      ON pose_priors(corr_data_id, corr_sensor_id, corr_sensor_type)
    """,
  ]
}

/// A database in memory, made by libsqlite3, which is loaded when it is first used. For one thread.
final class SQLiteDatabase {
  enum Value {
    case integer(Int)
    case text(String)
    /// Little-endian, one behind the other.
    case numbers([Double])
  }

  /// Why the library cannot be used; `nil` if it can.
  static var problem: String? {
    if case .failure(let failure) = SQLiteLibrary.loaded { "\(failure)" } else { nil }
  }

  private let library: SQLiteLibrary
  private let handle: OpaquePointer

  init() throws {
    library = try SQLiteLibrary.loaded.get()
    var opened: OpaquePointer?
    guard library.open(":memory:", &opened) == 0, let opened else {
      throw StageFailure("SQLite opens no database in memory")
    }
    handle = opened
  }

  deinit { _ = library.close(handle) }

  /// Runs a statement: once, or for each row with its values in place of `?`.
  func run(_ sql: String, _ rows: [[Value]] = [[]]) throws {
    var prepared: OpaquePointer?
    try check(library.prepare(handle, sql, -1, &prepared, nil))
    defer { _ = library.finalize(prepared) }
    for row in rows {
      for (place, value) in row.enumerated() {
        let place = Int32(place + 1)
        switch value {
        case .integer(let number):
          try check(library.bindInteger(prepared, place, Int64(number)))
        case .text(let text):
          try check(library.bindText(prepared, place, text, -1, Self.copied))
        case .numbers(let numbers):
          let bytes = numbers.flatMap { number in
            withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }
          }
          try check(library.bindBytes(prepared, place, bytes, Int32(bytes.count), Self.copied))
        }
      }
      // A row (100) is what a pragma answers.
      let code = library.step(prepared)
      if code != 100, code != 101 { try check(code) }
      try check(library.reset(prepared))
    }
  }

  /// Bytes 96 to 99 of a file: the version of the library that wrote it, which no reader needs.
  private static let writer: [UInt8] = withUnsafeBytes(of: UInt32(3_023_000).bigEndian) {
    Array($0)
  }

  /// The file: the same for the same statements, whatever the version of the library.
  func bytes() throws -> [UInt8] {
    var count: Int64 = 0
    guard let memory = library.serialize(handle, "main", &count, 0) else {
      throw StageFailure("SQLite gives no file: \(String(cString: library.message(handle)))")
    }
    defer { library.free(memory) }
    var bytes = Array(UnsafeRawBufferPointer(start: memory, count: Int(count)))
    if bytes.count >= 100 { bytes.replaceSubrange(96..<100, with: Self.writer) }
    return bytes
  }

  private func check(_ code: Int32) throws {
    guard code == 0 else {
      throw StageFailure("SQLite: \(String(cString: library.message(handle)))")
    }
  }

  /// SQLITE_TRANSIENT: bytes are copied before the call returns.
  private static var copied: SQLiteLibrary.Destructor? {
    unsafeBitCast(-1, to: SQLiteLibrary.Destructor?.self)
  }
}

/// The functions of libsqlite3 in use.
private struct SQLiteLibrary {
  typealias Destructor = @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void
  typealias OfStatement = @convention(c) @Sendable (OpaquePointer?) -> Int32

  let open:
    @convention(c) @Sendable (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  let close: OfStatement
  let prepare:
    @convention(c) @Sendable (
      OpaquePointer, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32
  let bindInteger: @convention(c) @Sendable (OpaquePointer?, Int32, Int64) -> Int32
  let bindText:
    @convention(c) @Sendable (
      OpaquePointer?, Int32, UnsafePointer<CChar>, Int32, Destructor?
    ) -> Int32
  let bindBytes:
    @convention(c) @Sendable (
      OpaquePointer?, Int32, UnsafeRawPointer, Int32, Destructor?
    ) -> Int32
  let step: OfStatement
  let reset: OfStatement
  let finalize: OfStatement
  let message: @convention(c) @Sendable (OpaquePointer?) -> UnsafePointer<CChar>
  let serialize:
    @convention(c) @Sendable (
      OpaquePointer, UnsafePointer<CChar>, UnsafeMutablePointer<Int64>, UInt32
    ) -> UnsafeMutableRawPointer?
  let free: @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void

  static let loaded = Result { () throws(StageFailure) in try SQLiteLibrary() }

  private init() throws(StageFailure) {
    let library = try LoadedLibrary("libsqlite3.so.0", package: "libsqlite3-0")
    open = try library.function("sqlite3_open")
    close = try library.function("sqlite3_close")
    prepare = try library.function("sqlite3_prepare_v2")
    bindInteger = try library.function("sqlite3_bind_int64")
    bindText = try library.function("sqlite3_bind_text")
    bindBytes = try library.function("sqlite3_bind_blob")
    step = try library.function("sqlite3_step")
    reset = try library.function("sqlite3_reset")
    finalize = try library.function("sqlite3_finalize")
    message = try library.function("sqlite3_errmsg")
    serialize = try library.function("sqlite3_serialize")
    free = try library.function("sqlite3_free")
  }
}
