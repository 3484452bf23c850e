import SystemPackage

/// File names as text from which every byte comes back.
///
/// A name is a sequence of bytes and need not be UTF-8; a `String` made of one that is not has lost it.
/// Here every byte that belongs to no character is carried as one of the 128 last scalars of the private
/// plane 16 (U+10FF80 for 0x80 … U+10FFFF for 0xFF); these scalars themselves are carried as their four
/// bytes. So text of names may be kept, sorted, sent as JSON and turned back into a path. What people
/// read shows such bytes as `%XX` (`shown`).
public enum PathText {
  private static let first: UInt32 = 0x10_FF80
  /// The first byte of the UTF-8 of all scalars from U+100000 on: text without it is plain.
  private static let mark: UInt8 = 0xF4

  /// The byte that a scalar stands for.
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
        // 0x80 and above: every byte below is a character by itself.
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

  /// For people: bytes that belong to no character as `%XX`.
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

  /// The same for the UTF-8 of a text.
  public static func shown(_ bytes: [UInt8]) -> [UInt8] {
    bytes.contains(mark) ? Array(shown(String(decoding: bytes, as: UTF8.self)).utf8) : bytes
  }

  /// `%XX`, in upper case.
  public static func percent(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "%0" + digits : "%" + digits
  }

  /// The bytes of a C string.
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

  /// Lends the bytes of `text` as a C string.
  public static func withCString<Result>(
    _ text: String, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    if !text.utf8.contains(mark) { return text.withCString(body) }
    return (bytes(of: text) + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { chars in
        // Never empty: it ends in a zero.
        chars.baseAddress.map(body) ?? "".withCString(body)
      }
    }
  }
}

extension FilePath {
  /// The path with these bytes, as `PathText` carries them.
  public init(text: String) {
    if text.utf8.contains(0xF4) {
      self = PathText.withCString(text) { FilePath(platformString: $0) }
    } else {
      self.init(text)
    }
  }

  /// All bytes of the path, as `PathText` carries them: for keys, notes and messages between our own
  /// processes.
  public var text: String { withPlatformString { PathText.text(of: $0) } }

  /// For people: as text with `%XX` for bytes that belong to no character.
  public var shown: String { PathText.shown(text) }

  /// A path in this folder; `name` as `PathText` carries it.
  public func appending(name: String) -> FilePath {
    name.utf8.contains(0xF4) ? pushing(FilePath(text: name)) : appending(name)
  }

  /// The text of the last component; `nil` for the root and the empty path.
  public var name: String? {
    guard let last = lastComponent, last.kind == .regular else { return nil }
    return last.withPlatformString { PathText.text(of: $0) }
  }

  /// The last component for people; of a path that has none the path.
  public var shownName: String { name.map(PathText.shown) ?? shown }
}
