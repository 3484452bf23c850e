import CSQLite
import Captures
import Core
import SystemPackage

/// `DIR/catalog.sqlite`: what the folders, runs and notes of an output tell, as tables for questions in SQL.
/// Written by `index` as it was then; no answer of this program reads it.
public enum CatalogTables {
  public static let fileName = OutputNames.tables

  /// How many rows a table has.
  public struct Counts: Sendable, Hashable {
    public var captures = 0
    public var streams = 0
    public var stages = 0
    public var attempts = 0
    public var warnings = 0
    public var runs = 0
  }

  /// Raised when a table changes.
  private static let version = 4

  private static let schema = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE captures (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, family TEXT, path TEXT, device TEXT, scene TEXT,
      recordedAt TEXT, frames INTEGER, attempts INTEGER NOT NULL, warnings INTEGER NOT NULL,
      missing TEXT NOT NULL, lastRun TEXT, cause TEXT, message TEXT, pipeline TEXT NOT NULL,
      folder TEXT, stem TEXT, outputs INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE streams (
      capture TEXT NOT NULL, name TEXT NOT NULL, file TEXT, encoding TEXT, frames INTEGER);
    CREATE TABLE stages (
      capture TEXT NOT NULL, stage TEXT NOT NULL, uses TEXT NOT NULL, state TEXT NOT NULL,
      reason TEXT, details TEXT);
    CREATE TABLE timings (
      capture TEXT NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, cpuSeconds REAL NOT NULL,
      frames INTEGER NOT NULL, bytes INTEGER NOT NULL, finished TEXT NOT NULL);
    CREATE TABLE warnings (
      capture TEXT NOT NULL, code TEXT NOT NULL, subject TEXT NOT NULL, message TEXT NOT NULL,
      count INTEGER NOT NULL, severity TEXT NOT NULL);
    CREATE TABLE runs (
      id TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT, pipeline TEXT, host TEXT,
      captures INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE attempts (
      run TEXT NOT NULL, capture TEXT NOT NULL, outcome TEXT, cause TEXT, message TEXT, started TEXT,
      finished TEXT, frames INTEGER NOT NULL, bytesWritten INTEGER NOT NULL, cpuSeconds REAL NOT NULL);
    CREATE VIRTUAL TABLE search USING fts5 (id UNINDEXED, text, tokenize = 'trigram case_sensitive 1');
    """

  private static let indexes = """
    CREATE INDEX streamsByCapture ON streams (capture);
    CREATE INDEX stagesByCapture ON stages (capture);
    CREATE INDEX timingsByCapture ON timings (capture);
    CREATE INDEX warningsByCapture ON warnings (capture);
    CREATE INDEX warningsByCode ON warnings (code);
    CREATE INDEX attemptsByRun ON attempts (run);
    CREATE INDEX attemptsByCapture ON attempts (capture);
    PRAGMA user_version = \(version);
    """

  /// Replaces the file in one step. Throws where it cannot be written, and where something else bears its
  /// name.
  static func write(_ view: OutputSnapshot, to root: FilePath) throws -> Counts {
    let folder = try HeldFolder.following(root)
    // What a program that had the replaced file open left beside it is not to be read into this one.
    let names = ["-wal", "-shm", "-journal", ""].map { fileName + $0 }
    for name in names {
      guard let entry = try folder.entry(name), entry.kind != .file else { continue }
      throw FileError(
        kind: .other, path: root.appending(name), operation: "write",
        reason: "\(name) is not a file; nothing is written to it")
    }
    var counts = Counts()
    let bytes = try image(of: view, &counts)
    for name in names.dropLast() { try folder.remove(name) }
    try folder.replace(fileName, with: bytes)
    return counts
  }

  /// The bytes of the file.
  static func image(of view: OutputSnapshot, _ counts: inout Counts) throws -> [UInt8] {
    let database = try SQLiteImage()
    try database.execute(schema)
    try database.execute("BEGIN")
    try database.insert("meta", [.text("made"), .text(UTCText.text(nanoseconds: view.now))])
    for row in view.rows {
      if let entry = row.entry { try insert(entry, row, into: database, &counts) }
    }
    for run in view.runs { try insert(run, into: database, &counts) }
    try database.execute("COMMIT")
    try database.execute(indexes)
    return try database.bytes()
  }

  private static func insert(
    _ entry: CaptureEntry, _ row: CaptureRow, into database: SQLiteImage, _ counts: inout Counts
  ) throws {
    let id = SQLiteImage.Value.text(entry.id)
    counts.captures += 1
    counts.streams += entry.streams.count
    counts.stages += entry.stages.count
    counts.warnings += entry.warnings.count
    try database.insert(
      "captures",
      [
        id, .text(row.state.rawValue), .text(entry.family), .text(entry.path),
        .text(entry.deviceText), .text(entry.sceneText), .text(entry.recordedAt),
        .integer(entry.frames), .integer(row.condition.attempts), .integer(row.warningCount.kinds),
        .text(entry.missing.joined(separator: " ")), .text(row.lastRun),
        .text(row.condition.failure?.cause?.rawValue), .text(row.condition.failure?.message),
        .text(entry.pipeline),
        .text(entry.folder), .text(entry.stem), .integer(entry.outputCount),
      ])
    for stream in entry.streams {
      try database.insert(
        "streams",
        [
          id, .text(stream.name), .text(stream.file), .text(stream.encoding),
          .integer(stream.frames),
        ])
    }
    for stage in entry.stages {
      try database.insert(
        "stages",
        [
          id, .text(stage.stage), .text(stage.uses), .text(stage.state.rawValue),
          .text(stage.reason?.rawValue), .text(stage.details),
        ])
    }
    for timing in entry.timings {
      try database.insert(
        "timings",
        [
          id, .text(timing.stage), .real(timing.seconds), .real(timing.cpuSeconds),
          .integer(timing.frames), .integer(Int(timing.bytes)), .text(timing.finished),
        ])
    }
    for warning in entry.warnings {
      try database.insert(
        "warnings",
        [
          id, .text(warning.code.rawValue), .text(warning.subject), .text(warning.message),
          .integer(warning.count), .text(warning.severity.rawValue),
        ])
    }
    try database.insert("search", [id, .text(entry.searchText)])
  }

  private static func insert(
    _ run: RunEntry, into database: SQLiteImage, _ counts: inout Counts
  ) throws {
    counts.runs += 1
    counts.attempts += run.attempts.count
    try database.insert(
      "runs",
      [
        .text(run.id), .text(run.started), .text(run.finished), .text(run.pipeline),
        .text(run.host), .integer(run.attempts.count),
      ])
    for attempt in run.attempts {
      try database.insert(
        "attempts",
        [
          .text(run.id), .text(attempt.capture), .text(attempt.outcome?.rawValue),
          .text(attempt.cause?.rawValue), .text(attempt.message), .text(attempt.started),
          .text(attempt.finished), .integer(attempt.frames), .integer(Int(attempt.bytes)),
          .real(attempt.cpuSeconds),
        ])
    }
  }
}

/// A database that is made in memory and becomes the bytes of a file: SQLite opens no file, needs no locks and
/// follows no links.
final class SQLiteImage {
  enum Value {
    case text(String?)
    case integer(Int?)
    case real(Double?)
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let database: OpaquePointer
  /// By table.
  private var statements: [String: OpaquePointer] = [:]

  init() throws {
    var opened: OpaquePointer?
    guard sqlite3_open(":memory:", &opened) == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw Failure(description: "SQLite cannot make a database in memory")
    }
    database = opened
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close(database)
  }

  /// Statements, separated by semicolons.
  func execute(_ sql: String) throws { try check(sqlite3_exec(database, sql, nil, nil, nil)) }

  /// A row with a value for each column.
  func insert(_ table: String, _ values: [Value]) throws {
    let statement = try statement(table, values.count)
    for (index, value) in zip(Int32(1)..., values) {
      switch value {
      case .text(let text?):
        // Copied: the text does not outlive the call.
        try check(
          sqlite3_bind_text(
            statement, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self)))
      case .integer(let number?):
        try check(sqlite3_bind_int64(statement, index, Int64(number)))
      case .real(let number?): try check(sqlite3_bind_double(statement, index, number))
      case .text, .integer, .real: try check(sqlite3_bind_null(statement, index))
      }
    }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
    try check(sqlite3_reset(statement))
  }

  private func statement(_ table: String, _ columns: Int) throws -> OpaquePointer {
    if let known = statements[table] { return known }
    let marks = [String](repeating: "?", count: columns).joined(separator: ", ")
    let names = table == "search" ? " (id, text)" : ""
    var prepared: OpaquePointer?
    try check(
      sqlite3_prepare_v2(
        database, "INSERT INTO \(table)\(names) VALUES (\(marks))", -1, &prepared, nil))
    guard let prepared else { throw failure }
    statements[table] = prepared
    return prepared
  }

  /// The file that it would be.
  func bytes() throws -> [UInt8] {
    var count: sqlite3_int64 = 0
    guard let image = sqlite3_serialize(database, "main", &count, 0) else { throw failure }
    defer { sqlite3_free(image) }
    return Array(UnsafeBufferPointer(start: image, count: Int(count)))
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw failure }
  }

  private var failure: Failure {
    Failure(description: "SQLite: " + String(cString: sqlite3_errmsg(database)))
  }
}
