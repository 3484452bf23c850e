import Media
import Core

/// A CSV table of an artifact, written in pieces of 1 MiB.
package struct TableFile: ~Copyable {
  package var csv: CSVWriter
  private let file: StagedFile

  init(_ name: String, _ columns: [String], _ staging: StagingFolder) throws {
    csv = CSVWriter(columns: columns)
    file = try staging.create(name)
  }

  mutating func endRow() throws {
    csv.endRow()
    if csv.pendingByteCount > 1 << 20 { try flush() }
  }

  /// Writes the rest; without this call the file does not become part of the artifact.
  package mutating func finish() throws {
    try flush()
    try file.finish()
  }

  private mutating func flush() throws {
    try csv.drain { try file.append($0) }
  }
}
