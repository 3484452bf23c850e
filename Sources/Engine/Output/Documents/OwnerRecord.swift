import Captures
import Core
import SystemPackage

/// `.scanmill/owner.json`: the place that an output folder was first made from, and belongs to.
package struct OwnerRecord: Hashable, Sendable, Codable {
  package var schema = 1
  /// The capture's name before it became a folder name.
  package var id: String
  package var family: CaptureFamily
  /// The folder as `PathText` carries it.
  package var folder: String
  package var stem: String?
  /// What lay there at the last run, to know it again elsewhere.
  package var content: Digest?
  /// Names that its folder in the output had before the capture was renamed, which runs of then tell of; `nil`: none.
  package var formerNames: [String]?

  init(_ recognition: Recognition, content: Digest? = nil) {
    id = recognition.id
    family = recognition.family
    folder = CaptureLocation(resolving: recognition).path.text
    stem = recognition.stem
    self.content = content
  }

  init(_ cache: CaptureCache) {
    id = cache.id
    family = cache.family
    folder = cache.folder
    stem = cache.stem
  }

  /// What an output folder says; `nil` when it says nothing that can be read.
  package init?(in layout: OutputLayout) {
    guard let notes = layout.openNotes(), let record = Self.read(in: notes)
    else { return nil }
    self = record
  }

  var location: CaptureLocation {
    CaptureLocation(FilePath(text: folder), stem: stem)
  }

  package static func read(in notes: HeldFolder) -> OwnerRecord? {
    notes.stampedContents(of: OutputNames.owner).flatMap { OwnerRecord(reading: $0.bytes) }
  }

  /// `nil` for other bytes than those of a record.
  init?(reading bytes: [UInt8]) {
    guard bytes.count <= 1 << 20,
      let record = try? OwnerRecord(json: bytes),
      record.schema == 1
    else { return nil }
    self = record
  }

  /// Writes it into an output folder that has none. `false` when another process has written one.
  func writeNew(in folder: HeldFolder) throws -> Bool {
    try folder.makeFolder(OutputNames.notes)
      .writeNew(JSONText.pretty(self), as: OutputNames.owner)
  }

  /// Only for the holder of the lock.
  func replace(in notes: HeldFolder) throws {
    try notes.replace(OutputNames.owner, with: JSONText.pretty(self))
  }
}
