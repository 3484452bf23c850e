import Core
import SystemPackage

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
