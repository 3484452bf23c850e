import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// An exclusive `flock` on a file: held until the object or the process ends, whatever ends it, so
/// that nothing needs unlocking after a kill.
public final class FileLock: Sendable {
  public let path: FilePath
  private let descriptor: Int32

  /// Takes the lock, waiting for it if `wait`. Returns `nil` when somebody else holds it and `wait` is
  /// off. `holder` is written into the file for others to name.
  public init?(at path: FilePath, holder: String, wait: Bool) throws(FileError) {
    try FileSystem.makeFolder(path.removingLastComponent())
    let opened = path.withPlatformString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "lock")
    }
    while flock(opened, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(opened)
      if code == EWOULDBLOCK { return nil }
      throw FileError(Errno(rawValue: code), path: path, operation: "lock")
    }
    self.path = path
    descriptor = opened
    let text = Array((holder + "\n").utf8)
    ftruncate(opened, 0)
    _ = text.withUnsafeBytes { pwrite(opened, $0.baseAddress, $0.count, 0) }
  }

  deinit {
    close(descriptor)
  }

  /// What the holder of the lock at `path` wrote about itself; `nil` when it is unknown.
  public static func holder(of path: FilePath) -> String? {
    guard let file = try? MappedFile(path), file.count > 0 else { return nil }
    return file.withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }.split(separator: "\n").first.map(String.init)
  }
}
