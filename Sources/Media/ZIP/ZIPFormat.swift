/// Signatures and sizes of the records of an archive (APPNOTE.TXT 6.3).
enum ZIPFormat {
  static let localHeader: UInt32 = 0x0403_4b50
  static let directoryEntry: UInt32 = 0x0201_4b50
  static let end: UInt32 = 0x0605_4b50
  static let end64: UInt32 = 0x0606_4b50
  static let end64Locator: UInt32 = 0x0706_4b50
  static let dataDescriptor: UInt32 = 0x0807_4b50

  static let localHeaderBytes = 30
  static let directoryEntryBytes = 46
  static let endBytes = 22
  static let end64Bytes = 56
  static let end64LocatorBytes = 20
  static let mostCommentBytes = 65_535

  /// Flag of an entry whose content is encrypted.
  static let encrypted = 1
  /// Flag of an entry whose sizes follow its data.
  static let hasDataDescriptor = 8
  /// Flag of an archive whose directory is encrypted.
  static let maskedHeader = 1 << 13
  /// The value of a 32-bit field whose number is in the ZIP64 extra field.
  static let in64: UInt32 = .max
  /// The identifier of that field.
  static let extra64 = 1
}

/// The little-endian numbers of one record.
struct ZIPFields {
  let bytes: [UInt8]

  func short(_ offset: Int) -> Int { Int(number(offset, bytes: 2)) }
  func word(_ offset: Int) -> UInt32 { UInt32(truncatingIfNeeded: number(offset, bytes: 4)) }
  /// `Int.max` for numbers that no `Int` holds.
  func long(_ offset: Int) -> Int { Int(clamping: number(offset, bytes: 8)) }

  /// 0 for bytes that are not there.
  private func number(_ offset: Int, bytes count: Int) -> UInt64 {
    guard offset >= 0, offset <= bytes.count - count else { return 0 }
    return (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  /// The 64-bit numbers of the ZIP64 extra field in `range`, in their order; empty without one.
  func extra64(in range: Range<Int>) -> [Int] {
    var offset = range.lowerBound
    while offset <= range.upperBound - 4 {
      let (kind, length) = (short(offset), short(offset + 2))
      let end = offset + 4 + length
      guard end <= range.upperBound else { return [] }
      if kind == ZIPFormat.extra64 {
        return stride(from: offset + 4, through: end - 8, by: 8).map(long)
      }
      offset = end
    }
    return []
  }
}
