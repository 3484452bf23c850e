/// A JSON object that code builds. A value is whatever an encoder writes; `nil` becomes `null`.
public struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  public typealias Member = any Encodable & Sendable

  private var members: [String: JSONCell]

  public init(dictionaryLiteral elements: (String, Member?)...) {
    members = Dictionary(elements.map { ($0, JSONCell(value: $1)) }) { $1 }
  }

  public subscript(_ name: String) -> Member? {
    get { members[name]?.value }
    set { members[name] = .some(JSONCell(value: newValue)) }
  }

  /// The members of both objects; of equal names, those of `other`.
  public func merging(_ other: JSONObject) -> JSONObject {
    var all = self
    all.members.merge(other.members) { $1 }
    return all
  }

  /// The object without the members that would be `null`.
  public var withoutNulls: JSONObject {
    var rest = self
    rest.members = members.filter { $0.value.value != nil }
    return rest
  }

  public func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// A JSON list whose elements differ in type, such as the cells of a row.
public struct JSONRow: Encodable, Sendable, ExpressibleByArrayLiteral {
  private let cells: [JSONCell]

  public init(arrayLiteral elements: JSONObject.Member?...) { cells = elements.map(JSONCell.init) }

  public func encode(to encoder: any Encoder) throws { try cells.encode(to: encoder) }
}

private struct JSONCell: Encodable {
  let value: JSONObject.Member?

  func encode(to encoder: any Encoder) throws {
    if let value { return try value.encode(to: encoder) }
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}
