import FoundationEssentials

/// A JSON object that code builds. A value is whatever `JSONEncoder` writes; `nil` becomes `null`.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
  private var members: [String: JSONCell]

  init(dictionaryLiteral elements: (String, (any Encodable)?)...) {
    members = Dictionary(elements.map { ($0, JSONCell(value: $1)) }) { $1 }
  }

  subscript(_ name: String) -> (any Encodable)? {
    get { members[name]?.value }
    set { members[name] = .some(JSONCell(value: newValue)) }
  }

  /// The members of both objects; of equal names, those of `other`.
  func merging(_ other: JSONObject) -> JSONObject {
    var all = self
    all.members.merge(other.members) { $1 }
    return all
  }

  func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

  /// UTF-8, with members sorted by name.
  func bytes(pretty: Bool = false, escapingSlashes: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if !escapingSlashes { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
    return Array(try encoder.encode(self))
  }
}

/// A JSON list whose elements differ in type, such as the cells of a row.
struct JSONRow: Encodable, ExpressibleByArrayLiteral {
  private let cells: [JSONCell]

  init(arrayLiteral elements: (any Encodable)?...) { cells = elements.map(JSONCell.init) }

  func encode(to encoder: any Encoder) throws { try cells.encode(to: encoder) }
}

private struct JSONCell: Encodable {
  let value: (any Encodable)?

  func encode(to encoder: any Encoder) throws {
    if let value { return try value.encode(to: encoder) }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}
