import CPlatform
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A file without a name, in memory: what a program is to read on its standard input. Nothing is left of it,
/// and a program that does not read it to its end breaks no pipe.
public enum MemoryFile {
  /// With these bytes, to be read from their beginning. The caller closes it.
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
