import FoundationEssentials
import Core

extension UploadManifest {
  /// The manifest of a folder with what its journal adds; `nil` where there is no manifest that can be read. Links are
  /// not followed.
  public init?(in folder: HeldFolder) {
    // Before the manifest, which may be replaced meanwhile.
    let journal =
      (try? folder.contents(of: UploadJournal.fileName, limit: UploadJournal.mostBytes))
      .flatMap { $0 }
    self.init(withoutJournalIn: folder)
    if let journal { add(UploadJournal.files(in: journal)) }
  }

  /// Only what stands in the file `.upload.json`.
  public init?(withoutJournalIn folder: HeldFolder) {
    guard
      let bytes = (try? folder.contents(of: Self.fileName, limit: Self.mostBytes))
        .flatMap({ $0 }),
      let manifest = try? JSONDecoder().decode(UploadManifest.self, from: Data(bytes))
    else { return nil }
    self = manifest
  }

  /// Adds files of the journal. What the manifest says of a file is never older.
  public mutating func add(_ journal: [File]) {
    var known = Set(files.map { Array($0.name.utf8) })
    for file in journal where known.insert(Array(file.name.utf8)).inserted {
      files.append(file)
      lastArrival = max(lastArrival, file.received)
    }
  }

  /// Indented JSON with a line end, equal for equal manifests.
  public func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try [UInt8](encoder.encode(self)) + [0x0A]
  }
}
