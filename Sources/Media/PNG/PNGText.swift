/// A note inside a PNG file: a `tEXt` chunk.
public struct PNGText: Hashable, Sendable {
  let keyword: [UInt8]
  let text: [UInt8]

  /// `nil` when a value is not allowed in a file. A keyword has 1…79 characters, no blanks at its
  /// ends and no two in a row; both are Latin-1 without control characters (lines of the text may
  /// end with `\n`); the text has at most 65,536 characters.
  public init?(keyword: String, text: String) {
    guard let key = Self.latin1(keyword, mayHaveLines: false),
      let content = Self.latin1(text, mayHaveLines: true),
      (1...79).contains(key.count), content.count <= 1 << 16, key.first != Self.blank,
      key.last != Self.blank,
      !zip(key, key.dropFirst()).contains(where: { $0 == (Self.blank, Self.blank) })
    else { return nil }
    self.keyword = key
    self.text = content
  }

  private static let blank = UInt8(ascii: " ")

  /// Size of the chunk: length, type, content, checksum.
  var chunkBytes: Int { 12 + keyword.count + 1 + text.count }

  private static func latin1(_ text: String, mayHaveLines: Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      let isPrintable = (0x20...0x7e).contains(scalar.value) || (0xa1...0xff).contains(scalar.value)
      guard isPrintable || (mayHaveLines && scalar == "\n") else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: scalar.value))
    }
    return bytes
  }
}
