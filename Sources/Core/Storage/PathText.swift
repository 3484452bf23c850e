import SystemPackage

extension String {
  /// The text that a C function has put in front of a NUL.
  public init(terminated characters: [CChar]) {
    self.init(
      decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// File names as text that preserves every byte.
///
/// A name is a sequence of bytes and need not be UTF-8; a plain `String` would lose other bytes.
/// Here each byte that is not part of a valid character is represented by one of the last 128
/// scalars of private use plane 16 (U+10FF80 for 0x80 to U+10FFFF for 0xFF). These scalars
/// themselves are represented by their four bytes. The text can be stored, sorted, sent as JSON and
/// converted back to a path. For display such bytes become `%XX` (`shown`).
public enum PathText {
  private static let first: UInt32 = 0x10_FF80
  /// First byte of the UTF-8 of all scalars from U+100000 on. Text without it needs no conversion.
  private static let mark: UInt8 = 0xF4

  /// The byte that a scalar represents; `nil` for other scalars.
  public static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
    scalar.value >= first ? UInt8(0x80 + (scalar.value - first)) : nil
  }

  public static func text(of bytes: some Collection<UInt8>) -> String {
    if !bytes.contains(mark), let plain = String(validating: bytes, as: UTF8.self) { return plain }
    var scalars = String.UnicodeScalarView()
    var rest = bytes[...]
    while let lead = rest.first {
      let count = length(lead)
      let piece = rest.prefix(count)
      if piece.count == count,
        let scalar = String(validating: piece, as: UTF8.self)?.unicodeScalars.first,
        scalar.value < first
      {
        scalars.append(scalar)
        rest = rest.dropFirst(count)
      } else {
        // `lead` is at least 0x80, because every smaller byte is a valid character.
        if let odd = Unicode.Scalar(first + UInt32(lead) - 0x80) { scalars.append(odd) }
        rest = rest.dropFirst()
      }
    }
    return String(scalars)
  }

  private static func length(_ lead: UInt8) -> Int {
    lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
  }

  public static func bytes(of text: some StringProtocol) -> [UInt8] {
    if !text.utf8.contains(mark) { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if let byte = byte(scalar) {
        bytes.append(byte)
      } else {
        bytes += UTF8.encode(scalar).map { Array($0) } ?? []
      }
    }
    return bytes
  }

  /// For display: bytes that are not part of a character as `%XX`.
  public static func shown(_ text: String) -> String {
    if !text.utf8.contains(mark) { return text }
    return text.unicodeScalars.reduce(into: "") { shown, scalar in
      if let byte = byte(scalar) {
        shown += percent(byte)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
  }

  /// The shown form of UTF-8 bytes.
  public static func shown(_ bytes: [UInt8]) -> [UInt8] {
    bytes.contains(mark) ? Array(shown(String(decoding: bytes, as: UTF8.self)).utf8) : bytes
  }

  /// `%XX` with upper-case digits.
  public static func percent(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "%0" + digits : "%" + digits
  }

  /// The text of a C string.
  public static func text(of pointer: UnsafePointer<CChar>) -> String {
    if let plain = String(validatingCString: pointer), !plain.utf8.contains(mark) { return plain }
    var bytes: [UInt8] = []
    var next = pointer
    while next.pointee != 0 {
      bytes.append(UInt8(bitPattern: next.pointee))
      next += 1
    }
    return text(of: bytes)
  }

  /// Passes the bytes of `text` as a C string to `body`.
  public static func withCString<Result>(
    _ text: String, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    if !text.utf8.contains(mark) { return text.withCString(body) }
    return (bytes(of: text) + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { chars in
        // Never `nil`: the buffer has at least the terminating zero.
        chars.baseAddress.map(body) ?? "".withCString(body)
      }
    }
  }
}

extension FilePath {
  /// The path of a text in the form of `PathText`.
  public init(text: String) {
    if text.utf8.contains(0xF4) {
      self = PathText.withCString(text) { FilePath(platformString: $0) }
    } else {
      self.init(text)
    }
  }

  /// The path as text in the form of `PathText`: for keys, records and messages between processes
  /// of scanmill.
  public var text: String { withPlatformString { PathText.text(of: $0) } }

  /// For display: bytes that are not part of a character as `%XX`.
  public var shown: String { PathText.shown(text) }

  /// The path of `name` in this folder; `name` is in the form of `PathText`.
  public func appending(name: String) -> FilePath {
    name.utf8.contains(0xF4) ? pushing(FilePath(text: name)) : appending(name)
  }

  /// The last component as text; `nil` for the root and the empty path.
  public var name: String? {
    guard let last = lastComponent, last.kind == .regular else { return nil }
    return last.withPlatformString { PathText.text(of: $0) }
  }

  /// The last component for display; the whole path if there is none.
  public var shownName: String { name.map(PathText.shown) ?? shown }
}

/// A file name in the file system's form: any bytes, not necessarily UTF-8.
struct RawName: Hashable {
  /// Ends with 0.
  let bytes: [CChar]

  /// Converts a text in the form of `PathText`.
  init(_ text: String) {
    bytes = PathText.bytes(of: text).map { CChar(bitPattern: $0) } + [0]
  }

  init(copying pointer: UnsafePointer<CChar>) {
    var bytes: [CChar] = []
    var next = pointer
    while next.pointee != 0 {
      bytes.append(next.pointee)
      next += 1
    }
    self.bytes = bytes + [0]
  }

  private var plain: [UInt8] { bytes.dropLast().map { UInt8(bitPattern: $0) } }

  /// The name in the form of `PathText`.
  var text: String { PathText.text(of: plain) }

  /// Whether the name is valid UTF-8.
  var isText: Bool { String(validating: plain, as: UTF8.self) != nil }
}

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
