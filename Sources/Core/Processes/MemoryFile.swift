import CPlatform
import SystemPackage
import Glibc

/// A file in memory, without a name, as a standard stream of a program. It disappears with its
/// last descriptor, and unlike a pipe it cannot break when a program does not read to the end.
public enum MemoryFile {
  /// A file that holds these bytes, positioned at the start. The caller closes it.
  public static func of(_ bytes: [UInt8]) throws(FileError) -> FileDescriptor {
    let number = scanmill_memory_file()
    guard number >= 0 else { throw failure(Errno(rawValue: errno)) }
    let file = FileDescriptor(rawValue: number)
    do {
      try file.writeAll(bytes)
      try file.seek(offset: 0, from: .start)
      return file
    } catch {
      try? file.close()
      throw failure(error as? Errno ?? .ioError)
    }
  }

  /// All that a program has written to one.
  public static func contents(_ file: FileDescriptor) -> [UInt8] {
    guard let found = try? FileStatus(file) else { return [] }
    let size = Int(clamping: found.bytes)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      while count < size {
        let got = pread(
          file.rawValue, bytes.baseAddress.map { $0 + count }, size - count, off_t(count))
        guard got > 0 else { return }
        count += got
      }
    }
  }

  private static func failure(_ code: Errno) -> FileError {
    FileError(code, path: "memory", operation: "make")
  }
}
