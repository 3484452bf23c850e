import Core

/// Any JSON value, for the parts of this program's files whose keys depend on the stage.
public enum JSONValue: Hashable, Sendable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Compares numbers by value: JSON writes 1.0 as `1`, which is decoded as an integer.
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)):
      Int64(exactly: number) == whole
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .number(let value):
      if let whole = Int64(exactly: value) { hasher.combine(whole) } else { hasher.combine(value) }
    case .string(let value): hasher.combine(value)
    case .array(let values): hasher.combine(values)
    case .object(let values): hasher.combine(values)
    }
  }

  /// The member of an object.
  package subscript(key: String) -> JSONValue? { members?[key] }
  package var members: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }
  package var list: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
  /// A text that is not empty.
  package var text: String? {
    if case .string(let text) = self, !text.isEmpty { text } else { nil }
  }
  package var whole: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }
  /// A finite number.
  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value) where value.isFinite: value
    default: nil
    }
  }

  /// The value on one line, as people write it: texts without quotes.
  var plainText: String {
    switch self {
    case .null: "none"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): value
    case .array(let values): "[" + values.map(\.plainText).joined(separator: ", ") + "]"
    case .object(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.plainText)" }
        .joined(separator: ", ") + "}"
    }
  }
}

/// Replaces secret values in records by digests, so that changes can be detected without revealing
/// the value.
public enum SecretText {
  private static let mark = "sha256:"
  /// The text in copies for people.
  static let leftOut = "(left out)"

  /// `NAME=VALUE` with a digest in place of the value; an existing digest is kept. An empty value
  /// is not a secret; a text without `=` is entirely secret.
  static func digested(_ text: String) -> String {
    replacing(text) { value in
      value.hasPrefix(mark) && value.utf8.count == mark.utf8.count + 64
        ? value
        // The name is included, so that equal values of different names have different digests.
        : mark + Digest(of: "scanmill secret\n" + text).hex
    }
  }

  /// `NAME=(left out)`.
  public static func omitted(_ text: String) -> String { replacing(text) { _ in leftOut } }

  private static func replacing(_ text: String, _ value: (String) -> String) -> String {
    guard let equals = text.firstIndex(of: "=") else { return value(text) }
    let given = String(text[text.index(after: equals)...])
    return given.isEmpty ? text : text[...equals] + value(given)
  }
}

extension JSONValue {
  /// A list of secrets as records show them.
  var withDigestedTexts: JSONValue {
    switch self {
    case .string(let text): .string(SecretText.digested(text))
    case .array(let values): .array(values.map(\.withDigestedTexts))
    case .null, .bool, .integer, .number, .object: self
    }
  }
}
