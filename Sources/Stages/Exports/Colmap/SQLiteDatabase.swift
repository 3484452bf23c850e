import Engine
import Glibc

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

  private static let fileName = "libsqlite3.so.0"

  static let loaded = Result { () throws -> SQLiteLibrary in try SQLiteLibrary() }

  private init() throws {
    guard let file = dlopen(Self.fileName, RTLD_NOW | RTLD_LOCAL) else {
      throw StageFailure("\(Self.fileName) cannot be loaded: install libsqlite3-0")
    }
    func function<Function>(_ name: String) throws -> Function {
      guard let address = dlsym(file, "sqlite3_" + name) else {
        throw StageFailure("\(Self.fileName) has no sqlite3_\(name): install a newer libsqlite3-0")
      }
      return unsafeBitCast(address, to: Function.self)
    }
    open = try function("open")
    close = try function("close")
    prepare = try function("prepare_v2")
    bindInteger = try function("bind_int64")
    bindText = try function("bind_text")
    bindBytes = try function("bind_blob")
    step = try function("step")
    reset = try function("reset")
    finalize = try function("finalize")
    message = try function("errmsg")
    serialize = try function("serialize")
    free = try function("free")
  }
}
