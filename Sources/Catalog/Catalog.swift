import CPlatform
import Captures
import FoundationEssentials
import GRDB
import Night
import Runner
import Storage
import SystemPackage

/// `DIR/catalog.sqlite`: what the folders and runs of an output tell, as a database. Derived: whatever is
/// wrong with it, answers are made without it, and it is made anew.
public final class Catalog: Sendable {
  public static let fileName = "catalog.sqlite"

  /// How many rows a table has.
  public struct Counts: Sendable, Hashable {
    public var captures = 0
    public var streams = 0
    public var stages = 0
    public var attempts = 0
    public var warnings = 0
    public var runs = 0
  }

  /// A capture as it was read, and what it was read from.
  struct Remembered: Sendable {
    var entry: CaptureEntry
    /// `nil`: it must be read again in any case.
    var stamp: String?
  }

  struct RememberedRun: Sendable {
    var entry: RunEntry
    var stamp: RunStamp
  }

  /// What is to be written.
  struct Changes: Sendable {
    var entries: [Remembered]
    /// Ids of captures that have no output folder any more.
    var gone: [String]
    var runs: [RememberedRun]
    /// How captures stand.
    var standings: [CaptureRow]
  }

  /// A capture as the catalog remembers it.
  struct Row: Sendable {
    var stamp: String?
    var stageFolders: String
    var folder: String?
    var stem: String?
    var outputs: Int
    var bytes: [UInt8]
    var digest: String

    /// Whether it would be read the same from the files.
    func isCurrent(_ layout: OutputLayout) -> Bool {
      guard let stamp else { return false }
      let folders = stageFolders.split(separator: "\n").map(String.init)
      return stamp
        == EntryStamps.digest(layout, folders: folders, folder: folder, stem: stem, newest: nil)
    }

    /// `nil` when it is damaged.
    var entry: CaptureEntry? {
      Digest(of: bytes).hex == digest ? try? EntryBytes.entry(bytes) : nil
    }
  }

  struct RunRow: Sendable {
    var stamp: RunStamp
    var bytes: [UInt8]
    var digest: String

    var entry: RunEntry? {
      Digest(of: bytes).hex == digest ? try? EntryBytes.run(bytes) : nil
    }
  }

  private let database: DatabaseQueue

  private init(_ database: DatabaseQueue) { self.database = database }

  /// `nil` where there is none that can be used: absent, broken, of another version or made by another
  /// program, or on a file system on which a database is not safe.
  init?(readingFrom root: FilePath, signature: String) {
    guard CatalogGuard.isUsable(root) else { return nil }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(1)
    guard
      let database = try? DatabaseQueue(
        path: try Self.path(in: root), configuration: configuration),
      let found = try? database.read({ try Self.signature($0) }), found == signature
    else { return nil }
    self.database = database
  }

  /// `nil` unless the tables are those of this version.
  private static func signature(_ database: Database) throws -> String? {
    guard
      try Int.fetchOne(database, sql: "PRAGMA user_version") == CatalogSchema.version
    else { return nil }
    return try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'signature'")
  }

  /// By id; empty when they cannot be read.
  func rows() -> [String: Row] {
    let found = try? database.read { database in
      var rows: [String: Row] = [:]
      let cursor = try GRDB.Row.fetchCursor(
        database,
        sql: """
          SELECT id, stamp, stageFolders, folder, stem, outputs, entry, entryDigest FROM captures
          """)
      while let row = try cursor.next() {
        rows[row[0]] = Row(
          stamp: row[1], stageFolders: row[2], folder: row[3], stem: row[4], outputs: row[5],
          bytes: try Self.bytes(row, 6), digest: row[7])
      }
      return rows
    }
    return found ?? [:]
  }

  /// By id; empty when they cannot be read.
  func runs() -> [String: RunRow] {
    let found = try? database.read { database in
      var rows: [String: RunRow] = [:]
      let cursor = try GRDB.Row.fetchCursor(
        database, sql: "SELECT id, stamp, entry, entryDigest FROM runs")
      while let row = try cursor.next() {
        rows[row[0]] = RunRow(
          stamp: RunStamp(text: row[1]), bytes: try Self.bytes(row, 2), digest: row[3])
      }
      return rows
    }
    return found ?? [:]
  }

  private static func bytes(_ row: GRDB.Row, _ index: Int) throws -> [UInt8] {
    try row.withUnsafeData(atIndex: index) { Array($0 ?? Data()) }
  }

  /// Ids of captures in whose scene, device or id `text` stands, letters in any case; `nil` when the catalog
  /// cannot tell. Texts shorter than three characters are looked for in every row.
  func ids(matching text: String) -> Set<String>? {
    let text = text.lowercased()
    return try? database.read { database in
      if text.unicodeScalars.count >= 3 {
        let phrase = "\"" + text.replacing("\"", with: "\"\"") + "\""
        return try String.fetchSet(
          database, sql: "SELECT id FROM search WHERE search MATCH ?", arguments: [phrase])
      }
      let pattern = "%" + text.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "%"
      return try String.fetchSet(
        database, sql: #"SELECT id FROM search WHERE text LIKE ? ESCAPE '\'"#, arguments: [pattern])
    }
  }

  /// Brings it up to date as far as that is possible: not where the output cannot be written, where a
  /// database is not safe, or while others keep it busy.
  static func update(_ root: FilePath, signature: String, _ changes: Changes) {
    guard CatalogGuard.isUsable(root), CatalogGuard.isWritable(root) else { return }
    if let database = try? open(root), (try? database.read { try Self.signature($0) }) == signature
    {
      _ = try? database.write { try CatalogWriter.write(changes, to: $0) }
      return
    }
    // What is there is of no use: absent, broken, of another version, of another program.
    _ = try? make(root, signature: signature, changes)
  }

  /// Makes it anew. Throws where it cannot be written.
  static func rebuild(_ root: FilePath, signature: String, _ changes: Changes) throws -> Counts {
    guard CatalogGuard.isUsable(root) else {
      throw FileError(
        kind: .other, path: root.appending(fileName), operation: "write",
        reason: CatalogGuard.whyNot(root))
    }
    return try make(root, signature: signature, changes)
  }

  private static func open(_ root: FilePath) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(2)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    }
    return try DatabaseQueue(path: path(in: root), configuration: configuration)
  }

  /// The output itself may be reached through links; the database in it is none.
  private static func path(in root: FilePath) throws -> String {
    guard followsNoLinks else {
      throw FileError(
        kind: .other, path: root.appending(fileName), operation: "open",
        reason: "SQLite cannot be kept from following links")
    }
    return try PathSafety.resolve(root).appending(fileName).string
  }

  /// SQLite follows none from then on.
  private static let followsNoLinks = scanmill_sqlite_without_links() == 0

  /// Under a lock, so that of two who find nothing useful one makes it.
  private static func make(
    _ root: FilePath, signature: String, _ changes: Changes
  ) throws -> Counts {
    let folder = try HeldFolder.following(root)
    var looks = 0
    let lock = try FileLock(
      in: try folder.makeFolder(NotesFile.folderName), name: "catalog.lock", holder: "catalog"
    ) { _ in
      looks += 1
      return looks < 50
    }
    guard let lock else { return Counts() }
    defer { withExtendedLifetime(lock) {} }
    for ending in ["-wal", "-shm", "-journal", ""] { try folder.remove(fileName + ending) }
    let database = try open(root)
    return try database.write { database in
      try database.execute(sql: CatalogSchema.tables)
      try database.execute(
        sql: "INSERT INTO meta VALUES ('signature', ?)", arguments: [signature])
      try CatalogWriter.write(changes, to: database)
      try database.execute(sql: "PRAGMA user_version = \(CatalogSchema.version)")
      func count(_ table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
      }
      return Counts(
        captures: try count("captures"), streams: try count("streams"),
        stages: try count("stages"), attempts: try count("attempts"),
        warnings: try count("warnings"), runs: try count("runs"))
    }
  }
}
