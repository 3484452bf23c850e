import Media
import Core
import SystemPackage

/// Writes a ZIP archive entry by entry. Its directory needs some 70 bytes of memory an entry.
struct ZIPFile {
  enum Method {
    case stored
    case deflated
    /// Deflated data, with sizes and checksum behind it.
    case deflatedWithDescriptor
  }

  private struct Entry {
    var name: [UInt8]
    var flags: UInt16
    var method: UInt16
    var checksum: UInt32
    var packed: Int
    var size: Int
    var offset: Int
  }

  private let file: GrowingFile
  private var entries: [Entry] = []
  /// The date 2026-01-01, 00:00, the same in all archives.
  private static let moment: UInt32 = UInt32((2026 - 1980) << 9 | 1 << 5 | 1) << 16
  private static let version: UInt16 = 20

  init(_ path: FilePath) throws(FileError) {
    file = try GrowingFile(path)
  }

  /// - Parameter hasWrongChecksum: whether the stated checksum is that of other data.
  /// - Returns: where the entry's data begins, and its length in the file.
  @discardableResult
  mutating func append(
    _ name: String, _ bytes: [UInt8], _ method: Method, hasWrongChecksum: Bool = false
  ) throws -> (offset: Int, byteCount: Int) {
    var checksum = CRC32()
    checksum.update(bytes)
    let packed = method == .stored ? bytes : try DeflateEncoder.compress(bytes, format: .raw)
    let hasDescriptor = method == .deflatedWithDescriptor
    let entry = Entry(
      name: Array(name.utf8), flags: hasDescriptor ? 8 : 0, method: method == .stored ? 0 : 8,
      checksum: hasWrongChecksum ? ~checksum.value : checksum.value, packed: packed.count,
      size: bytes.count, offset: file.byteCount)
    entries.append(entry)
    try file.append(Array("PK\u{3}\u{4}".utf8))
    try file.append(Self.version)
    try appendCommon(entry, hidesSizes: hasDescriptor)
    try file.append(entry.name)
    let start = file.byteCount
    try file.append(packed)
    if hasDescriptor {
      try file.append(Array("PK\u{7}\u{8}".utf8))
      try file.append(entry.checksum)
      try file.append(UInt32(entry.packed))
      try file.append(UInt32(entry.size))
    }
    return (start, packed.count)
  }

  /// Writes the directory and its end.
  mutating func finish() throws {
    let start = file.byteCount
    for entry in entries {
      try file.append(Array("PK\u{1}\u{2}".utf8))
      try file.append(Self.version)
      try file.append(Self.version)
      try appendCommon(entry, hidesSizes: false)
      // No comment, disk 0, no attributes.
      try file.append([UInt8](repeating: 0, count: 10))
      try file.append(UInt32(entry.offset))
      try file.append(entry.name)
    }
    let size = file.byteCount - start
    try file.append(Array("PK\u{5}\u{6}".utf8))
    try file.append(UInt32(0))
    try file.append(UInt16(entries.count))
    try file.append(UInt16(entries.count))
    try file.append(UInt32(size))
    try file.append(UInt32(start))
    try file.append(UInt16(0))
    try file.close()
  }

  private func appendCommon(_ entry: Entry, hidesSizes: Bool) throws {
    try file.append(entry.flags)
    try file.append(entry.method)
    try file.append(Self.moment)
    try file.append(hidesSizes ? 0 : entry.checksum)
    try file.append(UInt32(hidesSizes ? 0 : entry.packed))
    try file.append(UInt32(hidesSizes ? 0 : entry.size))
    try file.append(UInt16(entry.name.count))
    try file.append(UInt16(0))
  }
}
