import Captures

/// The families that captures are recognized as: in text and as JSON.
public struct FamilyHelp: Encodable, Sendable {
  struct Family: Encodable {
    var name: String
    var generations: [String]
    /// By the name of the generation: what it is told by.
    var marks: [String: String]
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
        marks: Dictionary(
          zip(reader.generations, reader.generationMarks), uniquingKeysWith: { first, _ in first }),
        recognized: reader.recognitionSentence, readerVersion: reader.readerVersion)
    }
  }

  /// A paragraph per family, a line per generation.
  public var text: String {
    families.map { family in
      let width = family.generations.map(\.count).max() ?? 0
      let lines = family.generations.map { name in
        "  \(name + String(repeating: " ", count: width - name.count))  \(family.marks[name] ?? "")"
      }
      return (["\(family.name): \(family.recognized)"] + lines).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}
