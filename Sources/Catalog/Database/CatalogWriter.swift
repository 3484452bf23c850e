import Captures
import FoundationEssentials
import GRDB
import Night
import Pipeline
import Runner
import Storage

/// Writes rows of the catalog.
enum CatalogWriter {
  static func write(_ changes: Catalog.Changes, to database: Database) throws {
    let standings = Dictionary(changes.standings.map { ($0.id, $0) }) { first, _ in first }
    for id in changes.gone { try remove(id, from: database) }
    for found in changes.entries {
      try remove(found.entry.id, from: database)
      try insert(found, standings[found.entry.id], into: database)
    }
    for run in changes.runs {
      try database.cachedStatement(sql: "DELETE FROM runs WHERE id = ?")
        .execute(arguments: [run.entry.id])
      try database.cachedStatement(sql: "DELETE FROM attempts WHERE run = ?")
        .execute(arguments: [run.entry.id])
      try insert(run, into: database)
    }
  }

  private static func remove(_ id: String, from database: Database) throws {
    for table in CatalogSchema.ofCaptures {
      try database.cachedStatement(sql: "DELETE FROM \(table) WHERE capture = ?")
        .execute(arguments: [id])
    }
    let had =
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT 1 FROM captures WHERE id = ?"), arguments: [id])
      ?? false
    guard had else { return }
    try database.cachedStatement(sql: "DELETE FROM captures WHERE id = ?")
      .execute(arguments: [id])
    // Looks at every row of the index: only for captures that are in it.
    try database.cachedStatement(sql: "DELETE FROM search WHERE id = ?").execute(arguments: [id])
  }

  private static func insert(
    _ found: Catalog.Remembered, _ row: CaptureRow?, into database: Database
  ) throws {
    let entry = found.entry
    let bytes = try EntryBytes.bytes(entry)
    try execute(
      database, "captures", 22,
      [
        entry.id, row?.state.rawValue ?? "queued", entry.family, entry.path, entry.deviceText,
        entry.sceneText, entry.recordedAt, entry.frames, row?.standing.attempts ?? 0,
        entry.warningCount, entry.missing.joined(separator: " "), row?.lastRun,
        row?.standing.cause?.rawValue, row?.standing.message, entry.pipeline, found.stamp,
        EntryStamps.folders(of: entry).joined(separator: "\n"), entry.folder, entry.stem,
        entry.outputCount, Data(bytes), Digest(of: bytes).hex,
      ])
    for stream in entry.streams {
      try execute(
        database, "streams", 5,
        [entry.id, stream.name, stream.file, stream.encoding, stream.frames])
    }
    for stage in entry.stages {
      try execute(
        database, "stages", 6,
        [
          entry.id, stage.stage, stage.uses, stage.state.rawValue, stage.reason?.rawValue,
          stage.details,
        ])
    }
    for timing in entry.timings {
      try execute(
        database, "timings", 7,
        [
          entry.id, timing.stage, timing.seconds, timing.cpuSeconds, timing.frames, timing.bytes,
          timing.finished,
        ])
    }
    for warning in entry.warnings {
      try execute(
        database, "warnings", 6,
        [
          entry.id, warning.code.rawValue, warning.subject, warning.message, warning.count,
          warning.severity.rawValue,
        ])
    }
    try execute(database, "search", 2, [entry.id, entry.searchText])
  }

  private static func insert(_ run: Catalog.RememberedRun, into database: Database) throws {
    let entry = run.entry
    let bytes = try EntryBytes.bytes(entry)
    try execute(
      database, "runs", 9,
      [
        entry.id, entry.started, entry.finished, entry.pipeline, entry.host,
        entry.attempts.count, run.stamp.text, Data(bytes), Digest(of: bytes).hex,
      ])
    for attempt in entry.attempts {
      try execute(
        database, "attempts", 10,
        [
          entry.id, attempt.capture, attempt.outcome?.rawValue, attempt.cause?.rawValue,
          attempt.message, attempt.started, attempt.finished, attempt.frames,
          attempt.bytesWritten, attempt.cpuSeconds,
        ])
    }
  }

  private static func execute(
    _ database: Database, _ table: String, _ columns: Int,
    _ values: [(any DatabaseValueConvertible)?]
  ) throws {
    let marks = [String](repeating: "?", count: columns).joined(separator: ", ")
    let names = table == "search" ? " (id, text)" : ""
    try database.cachedStatement(sql: "INSERT INTO \(table)\(names) VALUES (\(marks))")
      .execute(arguments: StatementArguments(values))
  }
}
