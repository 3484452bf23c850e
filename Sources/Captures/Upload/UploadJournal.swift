import FoundationEssentials

/// `.upload.journal` beside `.upload.json`: files that were received after the manifest was written, a line of JSON
/// each, with the keys of its `files`.
///
/// A manifest of thousands of files is not written anew for each of them; what was acknowledged meanwhile stands here.
/// Whoever reads a manifest reads both, the journal first: what it loses meanwhile the manifest has gained. It names
/// files only that the manifest did not name when it was begun, so what the manifest says of a file is the newer.
public enum UploadJournal {
  /// The file's name.
  public static let fileName = ".upload.journal"
  /// No journal is larger; a larger file is none.
  public static let mostBytes = UploadManifest.mostBytes

  /// A line with a line end in front, so that one that was cut by a full disk spoils no other.
  public static func line(_ file: UploadManifest.File) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try [0x0A] + [UInt8](encoder.encode(file)) + [0x0A]
  }

  /// What may be lines, in their order.
  package static func lines(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 0x0A)
  }

  /// Lines that are whole, in their order. Others were not acknowledged.
  public static func files(in bytes: [UInt8]) -> [UploadManifest.File] {
    let decoder = JSONDecoder()
    return lines(in: bytes).compactMap {
      try? decoder.decode(UploadManifest.File.self, from: Data($0))
    }
  }
}
