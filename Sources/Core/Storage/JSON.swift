import FoundationEssentials

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

/// Writes JSON documents. `Decodable.init(json:)` reads them.
public enum JSONText {
  /// Keys sorted, no blanks: the form for digests.
  public static func canonical(_ value: some Encodable) throws -> [UInt8] {
    try encoded(value, [])
  }

  /// Keys sorted, indented, with a line end: the form of files for people.
  public static func pretty(_ value: some Encodable) throws -> [UInt8] {
    try encoded(value, .prettyPrinted) + [UInt8(ascii: "\n")]
  }

  private static func encoded(
    _ value: some Encodable, _ form: JSONEncoder.OutputFormatting
  ) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = form.union([.sortedKeys, .withoutEscapingSlashes])
    return Array(try encoder.encode(value))
  }
}

extension Decodable {
  /// Reads a whole JSON document.
  public init(json bytes: some Sequence<UInt8>) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(bytes))
  }
}
