import Core
import Captures

/// Describes the known families, as text and as JSON.
public struct FamilyHelp: Encodable, Sendable {
  struct Family: Encodable {
    var name: String
    var generations: [String]
    /// How each generation is recognized, by its name.
    var marks: [String: String]
    /// How captures of the family are recognized.
    var recognized: String
    var readerVersion: Int
  }

  var schema = 1
  var families: [Family]

  public init(_ readers: [any CaptureReader.Type]) {
    families = readers.map { reader in
      let family = reader.description
      return Family(
        name: family.family.rawValue, generations: family.generations.map(\.name),
        marks: Dictionary(
          firstOf: family.generations.map { ($0.name, $0.mark) }),
        recognized: family.recognition, readerVersion: reader.readerVersion)
    }
  }

  /// One paragraph per family, one line per generation.
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
