import FoundationEssentials

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
