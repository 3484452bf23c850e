import Captures

/// The families that captures are recognized as: in text and as JSON.
public struct FamilyHelp: Encodable, Sendable {
  struct Family: Encodable {
    var name: String
    var generations: [String]
    /// How captures of it are told from others.
    var recognized: String
    var readerVersion: Int
  }

  var schema = 1
  var families: [Family]

  public init(_ registry: CaptureRegistry) {
    families = registry.readers.map { reader in
      Family(
        name: reader.family.rawValue, generations: reader.generations,
        recognized: reader.recognitionSentence, readerVersion: reader.readerVersion)
    }
  }

  /// A paragraph per family.
  public var text: String {
    families.map { family in
      """
      \(family.name)
        generations  \(family.generations.joined(separator: ", "))
        recognized   \(family.recognized)
      """
    }.joined(separator: "\n")
  }
}
