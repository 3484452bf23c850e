/// What an archive states of one entry. Nothing of it is believed before it is decoded.
public struct ZIPEntry: Hashable, Sendable {
  /// The bytes of the name; usually UTF-8.
  public var name: [UInt8]
  /// How it is packed: 0 stored, 8 deflated; others are not read.
  var method: Int
  /// CRC-32 of the content.
  public var checksum: UInt32
  var packedBytes: Int
  var contentBytes: Int
  /// Where its local header starts.
  var headerOffset: Int
  var isEncrypted: Bool

  /// Why a name must not be used as a path; `nil` for a plain relative one.
  ///
  /// Refused are an empty name, a leading slash, a backslash, a drive letter, a zero byte and components `..`.
  public var hostility: String? {
    if name.isEmpty { return "it has no name" }
    if name.first == UInt8(ascii: "/") { return "it starts with a slash" }
    if name.contains(UInt8(ascii: "\\")) { return "it has a backslash" }
    if name.contains(0) { return "it has a zero byte" }
    if name.count >= 2, name[1] == UInt8(ascii: ":"), Self.isLetter(name[0]) {
      return "it starts with a drive letter"
    }
    let parent = [UInt8](repeating: UInt8(ascii: "."), count: 2)
    if name.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual(parent) }) {
      return "it leads to a parent folder"
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
