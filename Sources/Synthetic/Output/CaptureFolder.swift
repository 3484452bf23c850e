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

/// A table that is written in pieces.
struct TableFile {
  private var rows: CSVWriter
  private let file: GrowingFile

  init(_ path: FilePath, _ columns: [String]) throws(FileError) {
    rows = CSVWriter(columns: columns)
    file = try GrowingFile(path)
  }

  mutating func append(_ row: [(any CSVCell)?]) throws(FileError) {
    rows.row(row)
    if rows.pendingByteCount > 1 << 16 { try file.append(rows.drain()) }
  }

  mutating func finish() throws(FileError) {
    try file.append(rows.drain())
    try file.close()
  }
}

/// A DEFLATE stream at the end of a file.
struct DeflateStream {
  private let file: GrowingFile
  private let format: DeflateFormat
  private var encoder: DeflateEncoder

  init(_ file: GrowingFile, _ format: DeflateFormat) {
    self.file = file
    self.format = format
    encoder = DeflateEncoder(format: format)
  }

  func append(_ bytes: [UInt8]) throws {
    var output: [UInt8] = []
    try encoder.append(bytes.span.bytes, to: &output)
    try file.append(output)
  }

  /// Ends the stream, with or without its end mark. Without it a few of the last pixels are lost.
  func finish(hasEndMark: Bool = true) throws {
    var output: [UInt8] = []
    try encoder.finish(to: &output)
    if !hasEndMark { output.removeLast(min(3, output.count)) }
    try file.append(output)
  }

  /// Ends the stream and begins another.
  mutating func startNext() throws {
    try finish()
    encoder = DeflateEncoder(format: format)
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

  private let file: GrowingFile
  private var directory: [UInt8] = []
  private var entryCount: UInt16 = 0
  /// The date 2026-01-01, 00:00, the same in all archives.
  private static let moment: UInt32 = UInt32((2026 - 1980) << 9 | 1 << 5 | 1) << 16
  private static let version = Bytes.of(UInt16(20))

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
    let kind = [
      Bytes.of(UInt16(hasDescriptor ? 8 : 0)), Bytes.of(UInt16(method == .stored ? 0 : 8)),
      Bytes.of(Self.moment),
    ].joined()
    let sizes = [
      hasWrongChecksum ? ~checksum.value : checksum.value, UInt32(packed.count),
      UInt32(bytes.count),
    ].flatMap { Bytes.of($0) }
    let name = Array(name.utf8)
    // Nothing follows the name: the upper half is 0.
    let nameLength = Bytes.of(UInt32(name.count))
    entryCount += 1
    directory += Self.mark(1, 2) + Self.version + Self.version + kind + sizes + nameLength
    // No comment, disk 0, no attributes.
    directory += [UInt8](repeating: 0, count: 10) + Bytes.of(UInt32(file.byteCount)) + name
    try file.append(Self.mark(3, 4) + Self.version + kind)
    try file.append(hasDescriptor ? [UInt8](repeating: 0, count: sizes.count) : sizes)
    try file.append(nameLength + name)
    let start = file.byteCount
    try file.append(packed)
    if hasDescriptor { try file.append(Self.mark(7, 8) + sizes) }
    return (start, packed.count)
  }

  /// Writes the directory and its end.
  mutating func finish() throws {
    let start = file.byteCount
    try file.append(directory)
    try file.append(Self.mark(5, 6))
    try file.append(UInt32(0))
    try file.append(entryCount)
    try file.append(entryCount)
    try file.append(UInt32(directory.count))
    try file.append(UInt32(start))
    try file.append(UInt16(0))
    try file.close()
  }

  /// The mark of a part of an archive.
  private static func mark(_ first: UInt8, _ second: UInt8) -> [UInt8] {
    Array("PK".utf8) + [first, second]
  }
}
