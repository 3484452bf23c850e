import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Whole files written in one go.
public enum OutputFile {
  /// Creates `path` with exactly these bytes; what was there is cut to them.
  /// `durably` adds an `fsync`, for the one small file that a publication ends with.
  public static func write(
    _ bytes: [UInt8], to path: FilePath, durably: Bool = false
  ) throws(FileError) {
    do {
      let opened = EnclosedPaths.open(
        path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode: 0o666)
      guard opened >= 0 else { throw Errno(rawValue: errno) }
      let file = FileDescriptor(rawValue: opened)
      do {
        try bytes.withUnsafeBytes { _ = try file.writeAll($0) }
        if durably, fsync(file.rawValue) != 0 { throw Errno(rawValue: errno) }
        try file.close()
      } catch {
        try? file.close()
        throw error
      }
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "write")
    } catch {
      throw FileError(kind: .other, path: path, operation: "write", reason: "\(error)")
    }
  }

  /// Replaces a small file in one step: written beside it, flushed, renamed over it. What can be told
  /// from damage and made again need not be flushed (`durably: false`).
  public static func replace(
    _ path: FilePath, with bytes: [UInt8], durably: Bool = true
  ) throws(FileError) {
    let name = path.lastComponent?.string ?? "file"
    let beside = path.removingLastComponent().appending(".\(name).\(getpid()).new")
    do {
      try write(bytes, to: beside, durably: durably)
      try FileSystem.rename(beside, to: path)
    } catch {
      try? FileSystem.remove(beside)
      throw error
    }
  }
}
