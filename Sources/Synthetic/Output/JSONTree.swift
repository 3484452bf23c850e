import FoundationEssentials

/// A JSON value built by code and written by `JSONEncoder`.
public enum JSONTree: Hashable, Sendable, Encodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case array([JSONTree])
  case object([String: JSONTree])

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }

  /// UTF-8, with members sorted by name. Numbers that are not finite become `null`.
  func bytes(pretty: Bool = false, escapingSlashes: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if !escapingSlashes { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
    return Array(try encoder.encode(finite))
  }

  private var finite: JSONTree {
    switch self {
    case .number(let value): value.isFinite ? self : .null
    case .array(let values): .array(values.map(\.finite))
    case .object(let members): .object(members.mapValues(\.finite))
    default: self
    }
  }

  /// A member of an object; `nil` in anything else.
  subscript(_ name: String) -> JSONTree? {
    if case .object(let members) = self { members[name] } else { nil }
  }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  public init(nilLiteral: ()) { self = .null }
  public init(dictionaryLiteral elements: (String, JSONTree)...) {
    self = .object(Dictionary(elements) { $1 })
  }

  init(_ value: Int) { self = .integer(Int64(value)) }
  init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
  init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
  init(_ value: Double?) { self = value.map { JSONTree.number($0) } ?? .null }
  init(_ value: String?) { self = value.map { .text($0) } ?? .null }
  init(_ values: [Double]) { self = .array(values.map { JSONTree.number($0) }) }
  init(_ values: [Int64?]) { self = .array(values.map { JSONTree($0) }) }
  init(_ values: [Int]) { self = .array(values.map { JSONTree($0) }) }
  init(_ values: [String?]) { self = .array(values.map { JSONTree($0) }) }
}
