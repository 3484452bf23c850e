import Captures
import FoundationEssentials
import Storage

/// Files of a large capture that its manifest does not name yet, a line of JSON each, in `.incoming/`. A manifest of
/// thousands of files is not written anew for each of them; what was acknowledged stands here meanwhile.
enum ManifestJournal {
  /// From so many files on a capture has one.
  static let fromFiles = 64
  private static let ending = ".journal"

  /// The name of the journal of a folder in STAGING.
  static func name(of folder: String) -> String { Digest(of: folder).hex + ending }

  static func isName(_ name: String) -> Bool { name.hasSuffix(ending) }

  /// A line with a line end in front, so that one that was cut by a full disk spoils no other.
  static func line(_ file: UploadManifest.File) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try [0x0A] + [UInt8](encoder.encode(file)) + [0x0A]
  }

  /// Lines that are whole, in their order. Others were not acknowledged.
  static func files(in bytes: [UInt8]) -> [UploadManifest.File] {
    let decoder = JSONDecoder()
    return bytes.split(separator: 0x0A).compactMap {
      try? decoder.decode(UploadManifest.File.self, from: Data($0))
    }
  }
}
