import Core
import FoundationEssentials
import Media
import SystemPackage

/// The folders of a capture, or its one file, while it is written. They are moved to their final place at the end, so
/// that an interrupted command leaves no partial capture.
struct CaptureFolder {
  /// Where the capture and its truth are written. The capture's folder is there; a file is not.
  let capture: FilePath
  let truth: FilePath
  private let staging: FilePath
  private let place: FilePath
  private let truthPlace: FilePath

  /// Creates `output` and an empty staging folder in it. Throws if the capture exists and may not
  /// be replaced.
  ///
  /// - Parameter ending: of a capture that is one file, without dot.
  init(
    output: FilePath, id: String, ending: String? = nil, mayReplace: Bool
  ) throws(FileError) {
    place = output.appending(ending.map { "\(id).\($0)" } ?? id)
    truthPlace = output.appending("\(id).truth")
    for path in [place, truthPlace] where FileSystem.exists(path) && !mayReplace {
      throw FileError(
        kind: .permission, path: path, operation: "synthesize", reason: "is already there",
        remedy: "choose another --output or --id, or give --replace")
    }
    staging = output.appending(".synthesize-\(id)")
    try FileSystem.remove(staging)
    capture = staging.appending("capture")
    truth = staging.appending("truth")
    if ending == nil { try FileSystem.makeFolder(capture) }
    try FileSystem.makeFolder(truth)
  }

  /// Moves both folders to their final place.
  func publish() throws(FileError) -> (capture: FilePath, truth: FilePath) {
    try FileSystem.remove(place)
    try FileSystem.remove(truthPlace)
    try FileSystem.rename(capture, to: place)
    try FileSystem.rename(truth, to: truthPlace)
    try FileSystem.remove(staging)
    return (place, truthPlace)
  }

  /// Removes what was written so far.
  func discard() {
    try? FileSystem.remove(staging)
  }
}

extension JSONObject {
  /// UTF-8, with members sorted by name.
  func bytes(pretty: Bool = false, escapingSlashes: Bool = false) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if !escapingSlashes { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
    return Array(try encoder.encode(self))
  }
}

/// A file written sequentially; buffers at most a megabyte.
final class GrowingFile {
  let path: FilePath
  private let file: FileDescriptor
  private var pending: [UInt8] = []
  private var isOpen = true
  private(set) var byteCount = 0

  init(_ path: FilePath) throws(FileError) {
    self.path = path
    do {
      file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate, .closeOnExec],
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    } catch {
      throw FileError(error, path: path, operation: "create")
    }
  }

  deinit {
    if isOpen { try? file.close() }
  }

  func append(_ bytes: some Sequence<UInt8>) throws(FileError) {
    let before = pending.count
    pending.append(contentsOf: bytes)
    byteCount += pending.count - before
    if pending.count >= 1 << 20 { try flush() }
  }

  func append(_ text: String) throws(FileError) {
    try append(text.utf8)
  }

  /// Little-endian.
  func append(_ value: some FixedWidthInteger) throws(FileError) {
    try append(Bytes.of(value))
  }

  /// IEEE 754 double, little-endian.
  func append(_ value: Double) throws(FileError) {
    try append(value.bitPattern)
  }

  /// IEEE 754 single, little-endian.
  func append(_ value: Float) throws(FileError) {
    try append(value.bitPattern)
  }

  func close() throws(FileError) {
    guard isOpen else { return }
    try flush()
    isOpen = false
    do {
      try file.close()
    } catch {
      throw FileError(error, path: path, operation: "close")
    }
  }

  private func flush() throws(FileError) {
    do {
      _ = try file.writeAll(pending)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
    pending.removeAll(keepingCapacity: true)
  }
}

/// Numbers as the bytes of a file.
enum Bytes {
  /// Least significant first.
  static func of(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  /// Most significant first.
  static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// All values, least significant bytes first.
  static func of(_ values: [UInt16]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * 2)
    for value in values {
      bytes.append(UInt8(truncatingIfNeeded: value))
      bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    }
    return bytes
  }
}

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
