import FoundationEssentials
import Core

/// Decodes text files to UTF-8, whatever encoding an editor or a copy has produced.
enum TextBytes {
  private enum Encoding {
    case utf16LittleEndian, utf16BigEndian
  }

  /// Converts UTF-16, with or without byte order mark, to UTF-8; removes the mark of UTF-8. Other
  /// bytes are returned unchanged. Cost: for UTF-8 only the first bytes are read.
  static func utf8(_ bytes: Data) -> Data {
    let head = Array(bytes.prefix(4))
    if let (encoding, mark) = utf16(head) {
      return Data(decoded(bytes.dropFirst(mark), encoding))
    }
    return head.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(bytes.dropFirst(3)) : bytes
  }

  static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    if let (encoding, mark) = utf16(Array(bytes.prefix(4))) {
      return decoded(bytes.dropFirst(mark), encoding)
    }
    return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }

  /// The whole file as UTF-8 if it is UTF-16; `nil` otherwise, in which case it can be read
  /// directly.
  static func utf8(ifUTF16 file: MappedFile) -> [UInt8]? {
    let head = file.withBytes(in: 0..<4) { $0.withUnsafeBytes(Array.init) }
    guard utf16(head) != nil else { return nil }
    return utf8(file.withBytes { $0.withUnsafeBytes(Array.init) })
  }

  /// The encoding by the first bytes, and the length of the byte order mark. Without a mark, UTF-16
  /// is detected by ASCII characters with zero bytes: every text of these apps begins with two
  /// ASCII characters.
  private static func utf16(_ head: [UInt8]) -> (Encoding, mark: Int)? {
    if head.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
    if head.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
    guard head.count >= 2 else { return nil }
    let pairs = stride(from: 0, to: head.count - 1, by: 2).map { (head[$0], head[$0 + 1]) }
    if pairs.allSatisfy({ $0.0 != 0 && $0.1 == 0 }) { return (.utf16LittleEndian, 0) }
    if pairs.allSatisfy({ $0.0 == 0 && $0.1 != 0 }) { return (.utf16BigEndian, 0) }
    return nil
  }

  /// An odd byte at the end of a cut file is dropped.
  private static func decoded(_ bytes: some Collection<UInt8>, _ encoding: Encoding) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    var first: UInt8?
    for byte in bytes {
      guard let before = first else {
        first = byte
        continue
      }
      let (high, low) = encoding == .utf16BigEndian ? (before, byte) : (byte, before)
      units.append(UInt16(high) << 8 | UInt16(low))
      first = nil
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }
}
