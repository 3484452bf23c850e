import FoundationEssentials
import Core
import SystemPackage

/// The one reader of `artifact.json`, and of the records that are kept of artifacts that were removed.
extension ArtifactRecord {
  /// Fails if the bytes are no record, or a cut one.
  package init?(reading bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(ArtifactRecord.self, from: Data(bytes)) else {
      return nil
    }
    self = record
  }

  /// The record at a path in the output of a capture; no link is followed below `--output`. Whether it is to be
  /// believed is not looked at.
  package init?(at path: FilePath, of layout: OutputLayout) {
    guard let bytes = HeldFolder.contents(of: path, below: layout.root) else { return nil }
    self.init(reading: bytes)
  }

  /// Whether a file of the record's name is that of `stage`, or one of ours that is too damaged to say.
  static func isOurs(_ bytes: [UInt8], of stage: String) -> Bool {
    struct Head: Decodable {
      var stage: String
      var fingerprint: String
    }
    if let head = try? JSONDecoder().decode(Head.self, from: Data(bytes)) {
      return head.stage == stage
    }
    // Another file of that name, unless it is no JSON at all: torn by the disk or by hand.
    return (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) == nil
  }
}
