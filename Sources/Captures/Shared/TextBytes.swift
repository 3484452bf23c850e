import FoundationEssentials
import Storage

/// Text files as UTF-8, whatever an editor or a copy made of them.
enum TextBytes {
  private enum Encoding {
    case utf16LittleEndian, utf16BigEndian
  }

  /// UTF-16, with byte order mark or without, becomes UTF-8; a mark of UTF-8 is left out. Anything else
  /// comes back as it is. Cost: none but a look at the first bytes for UTF-8.
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

  /// The whole file as UTF-8 if it is UTF-16; `nil` when it is not, and can be read where it lies.
  static func utf8(ifUTF16 file: MappedFile) -> [UInt8]? {
    let head = file.withBytes(in: 0..<4) { $0.withUnsafeBytes(Array.init) }
    guard utf16(head) != nil else { return nil }
    return utf8(file.withBytes { $0.withUnsafeBytes(Array.init) })
  }

  /// The encoding that the first bytes tell, and how many of them are a byte order mark. Without one,
  /// ASCII characters with zero bytes beside them: every text of these apps begins with two.
  private static func utf16(_ head: [UInt8]) -> (Encoding, mark: Int)? {
    if head.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
    if head.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
    guard head.count >= 2 else { return nil }
    let pairs = stride(from: 0, to: head.count - 1, by: 2).map { (head[$0], head[$0 + 1]) }
    if pairs.allSatisfy({ $0.0 != 0 && $0.1 == 0 }) { return (.utf16LittleEndian, 0) }
    if pairs.allSatisfy({ $0.0 == 0 && $0.1 != 0 }) { return (.utf16BigEndian, 0) }
    return nil
  }

  /// An odd byte at the end of a cut file is left out.
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
