import CPlatform
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A file in memory, without a name, as the standard input of a program. It disappears with its
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

  private static func failure(_ code: Errno) -> FileError {
    FileError(code, path: "memory", operation: "make")
  }
}
