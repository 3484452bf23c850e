import Core
import SystemPackage
import Glibc

/// Copies what a run wrote, as `cp` does: through the page cache, without flushing.
public enum FloorCopy {
  /// Buffer size: more than any picture; larger files are copied in pieces.
  private static let pieceBytes = 8 << 20

  /// Copies all regular files in `source`, recursively, to `target`, which is created. One read and
  /// one write per file, plus reading the size of PNG pictures. Throws `FileError`, and
  /// `BenchmarkError` for a target inside the source.
  public static func measure(_ source: FilePath, to target: FilePath) throws -> FloorSample {
    let (from, to) = (try FileSystem.absolute(source), try FileSystem.absolute(target))
    guard !to.starts(with: from) else {
      throw BenchmarkError(
        description: "\(target.shown) lies in \(source.shown), which would be copied without end")
    }
    // The buffer's first use does not belong to copying.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 4096)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 1)
    return try FloorSample.measured { try copy(source, to: target, buffer, &$0) }
  }

  private static func copy(
    _ source: FilePath, to target: FilePath, _ buffer: UnsafeMutableRawBufferPointer,
    _ sample: inout FloorSample
  ) throws {
    let names = try FileSystem.names(in: source)
    try FileSystem.makeFolder(target)
    for name in names {
      let from = source.appending(name: name)
      let to = target.appending(name: name)
      if FileSystem.isLink(from) { continue }
      if FileSystem.isFolder(from) {
        try copy(from, to: to, buffer, &sample)
      } else {
        try copyFile(from, to: to, buffer, &sample)
      }
    }
  }

  private static func copyFile(
    _ source: FilePath, to target: FilePath, _ buffer: UnsafeMutableRawBufferPointer,
    _ sample: inout FloorSample
  ) throws(FileError) {
    let input = try open(source, .readOnly, [.closeOnExec], "open")
    defer { try? input.close() }
    let output = try open(
      target, .writeOnly, [.create, .exclusiveCreate, .closeOnExec], "create")
    defer { try? output.close() }
    var isFirst = true
    var path = source
    var operation = "read"
    do {
      while true {
        (path, operation) = (source, "read")
        let got = try input.read(into: buffer)
        if got == 0 { break }
        if isFirst { note(UnsafeRawBufferPointer(rebasing: buffer[..<got]), &sample) }
        isFirst = false
        (path, operation) = (target, "write")
        sample.bytes += Int64(try output.writeAll(buffer[..<got]))
        // A short read is the end of a regular file.
        if got < buffer.count { break }
      }
    } catch {
      throw FileError(error, path: path, operation: operation)
    }
    sample.files += 1
  }

  private static func open(
    _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions,
    _ operation: String
  ) throws(FileError) -> FileDescriptor {
    do {
      return try FileDescriptor.open(
        path, mode, options: options,
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    } catch {
      throw FileError(error, path: path, operation: operation)
    }
  }

  /// Counts a PNG picture: width and height are at offset 16.
  private static func note(_ head: UnsafeRawBufferPointer, _ sample: inout FloorSample) {
    guard head.count >= 24, head.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return }
    let width = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
    let height = UInt32(bigEndian: head.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
    sample.count(width: Int(width), height: Int(height))
  }
}
