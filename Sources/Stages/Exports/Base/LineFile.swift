import Core

/// A text file of an artifact, written line by line in pieces of 64 KiB.
struct LineFile: ~Copyable {
  private var bytes: [UInt8] = []
  private let file: StagedFile

  init(_ name: String, _ staging: StagingFolder) throws {
    file = try staging.create(name)
  }

  /// Appends `text` and a line feed.
  mutating func line(_ text: String) throws {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count > 1 << 16 { try flush() }
  }

  /// Writes the rest; without this call the file does not become part of the artifact.
  mutating func finish() throws {
    try flush()
    try file.finish()
  }

  private mutating func flush() throws {
    try file.append(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}
