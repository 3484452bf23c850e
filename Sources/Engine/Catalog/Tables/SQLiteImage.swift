import CSQLite

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
