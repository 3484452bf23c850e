import FoundationEssentials
import Storage

extension UploadManifest {
  /// The manifest of a folder; `nil` where there is none that can be read. Links are not followed.
  public init?(in folder: HeldFolder) {
    guard
      let bytes = (try? folder.contents(of: Self.fileName, limit: Self.mostBytes))
        .flatMap({ $0 }),
      let manifest = try? JSONDecoder().decode(UploadManifest.self, from: Data(bytes))
    else { return nil }
    self = manifest
  }

  /// Indented JSON with a line end, equal for equal manifests.
  public func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try [UInt8](encoder.encode(self)) + [0x0A]
  }
}
