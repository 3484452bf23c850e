import SystemPackage

/// A path that is coded as its text, as people read it, instead of the form that `FilePath` has of its
/// own. Bytes that are no UTF-8 survive (`PathText`).
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

/// The same for a path that may be absent: its key is coded as null then, and need not be there.
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
  /// What synthesized decoding calls: an absent key is no path.
  public func decode(
    _ type: CodedOptionalPath.Type, forKey key: Key
  ) throws -> CodedOptionalPath {
    try decodeIfPresent(type, forKey: key) ?? CodedOptionalPath(wrappedValue: nil)
  }
}
