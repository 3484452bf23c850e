import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// An exclusive `flock` on a file: held until the object or the process ends, whatever ends it, so
/// that nothing needs unlocking after a kill.
public final class FileLock: Sendable {
  public let path: FilePath
  private let descriptor: Int32

  /// Takes the lock. While somebody else holds it, `keepWaiting` is asked about ten times a second
  /// (given what the holder wrote); `nil` once it says no. `holder` is written into the file for others
  /// to name.
  ///
  /// The file is asked for again and again instead of waiting inside `flock`, so that an interrupt can
  /// end the wait.
  public init?(
    at path: FilePath, holder: String, keepWaiting: (String?) -> Bool
  ) throws(FileError) {
    var taken: Int32?
    var isFirst = true
    while taken == nil {
      try FileSystem.makeFolder(path.removingLastComponent())
      taken = try Self.tryLock(path)
      if taken == nil, isFirst {
        // It may have been somebody who only looked (`isHeld`).
        usleep(2_000)
        taken = try Self.tryLock(path)
      }
      isFirst = false
      if taken == nil {
        guard keepWaiting(Self.holder(of: path)) else { return nil }
        usleep(100_000)
      }
    }
    guard let taken else { return nil }
    self.path = path
    descriptor = taken
    let text = Array((holder + "\n").utf8)
    ftruncate(taken, 0)
    _ = text.withUnsafeBytes { pwrite(taken, $0.baseAddress, $0.count, 0) }
  }

  /// The descriptor of the locked file, or `nil` when somebody else has it.
  private static func tryLock(_ path: FilePath) throws(FileError) -> Int32? {
    while true {
      let opened = path.withPlatformString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }
      guard opened >= 0 else {
        throw FileError(Errno(rawValue: errno), path: path, operation: "lock")
      }
      while flock(opened, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        if code == EINTR { continue }
        close(opened)
        if code == EWOULDBLOCK { return nil }
        throw FileError(Errno(rawValue: code), path: path, operation: "lock")
      }
      if isStillAt(path, opened) { return opened }
      // The file was removed between opening and locking: this lock is nobody's any more.
      close(opened)
    }
  }

  private static func isStillAt(_ path: FilePath, _ descriptor: Int32) -> Bool {
    var open = stat()
    var named = stat()
    return fstat(descriptor, &open) == 0
      && path.withPlatformString { stat($0, &named) } == 0
      && open.st_ino == named.st_ino && open.st_dev == named.st_dev
  }

  deinit {
    close(descriptor)
  }

  /// Whether somebody holds the lock at `path` now. Creates nothing. The look takes the lock for an
  /// instant, shared; who asks for it in earnest asks twice.
  public static func isHeld(at path: FilePath) -> Bool {
    let opened = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard opened >= 0 else { return false }
    defer { close(opened) }
    while flock(opened, LOCK_SH | LOCK_NB) != 0 {
      if errno != EINTR { return errno == EWOULDBLOCK }
    }
    return false
  }

  /// What the holder of the lock at `path` wrote about itself; `nil` when it is unknown.
  public static func holder(of path: FilePath) -> String? {
    guard let file = try? MappedFile(path), file.count > 0 else { return nil }
    return file.withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }.split(separator: "\n").first.map(String.init)
  }
}
