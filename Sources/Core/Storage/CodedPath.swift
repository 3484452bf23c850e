import SystemPackage

/// A path that is coded as readable text rather than in the form of `FilePath`. Bytes that are not
/// UTF-8 are preserved (`PathText`).
@propertyWrapper
public struct CodedPath: Hashable, Sendable, Codable {
  public var wrappedValue: FilePath

  public init(wrappedValue: FilePath) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    wrappedValue = FilePath(text: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue.text)
  }
}

/// Codes an optional path. `nil` is coded as null; on decoding the key may be absent.
@propertyWrapper
public struct CodedOptionalPath: Hashable, Sendable, Codable {
  public var wrappedValue: FilePath?

  public init(wrappedValue: FilePath?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue =
      container.decodeNil() ? nil : FilePath(text: try container.decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let path = wrappedValue {
      try container.encode(path.text)
    } else {
      try container.encodeNil()
    }
  }
}

extension KeyedDecodingContainer {
  /// Called by synthesized decoding. An absent key gives `nil`.
  public func decode(
    _ type: CodedOptionalPath.Type, forKey key: Key
  ) throws -> CodedOptionalPath {
    try decodeIfPresent(type, forKey: key) ?? CodedOptionalPath(wrappedValue: nil)
  }
}
