import SystemPackage
import Glibc

/// An exclusive `flock` on a file. It is held until the object or the process ends, so that no lock
/// remains after a kill.
///
/// Some file systems keep locks local to a machine or mount (`localflock` of Lustre, `local_lock`
/// of NFS). Two processes may then hold the lock at once; `other` detects this. Some have no locks
/// at all (Lustre without `flock`, NFS without its lock service). Every process then gets the lock,
/// and `refusal` has the reason.
public final class FileLock: Sendable {
  public let path: FilePath
  private let folder: HeldFolder
  private let name: String
  private let descriptor: Int32
  /// The text that this lock wrote into the file.
  private let text: [UInt8]
  /// The error of a file system without locks. If not `nil`, this lock excludes no other process.
  public let refusal: Errno?

  /// For tests: locks are taken as on a file system that does not share them.
  @TaskLocal static var areNotShared = false
  /// For tests: the result of every `flock` call.
  @TaskLocal static var answer: Errno?

  /// Errors that mean that a file system has no locks. `ENOLCK` also comes from servers that cannot
  /// be reached or whose lock table is full; waiting for those could take very long.
  private static let noLocks: Set<Errno> = [
    .noFunction, .noLocks, .notSupportedOnSocket,
  ]

  /// Calls `flock` without waiting; returns its error.
  private static func ask(_ descriptor: Int32, _ operation: Int32) -> Errno? {
    if let answer { return answer }
    while true {
      if flock(descriptor, operation | LOCK_NB) == 0 { return nil }
      if errno != EINTR { return Errno(rawValue: errno) }
    }
  }

  /// Takes the lock. While another process holds it, `keepWaiting` is called about ten times a
  /// second with the text of the holder; the result is `nil` once it returns `false`. `holder` is
  /// written into the file for other processes to show, followed by this process and its namespace.
  ///
  /// The lock is polled rather than waited for in `flock`, so that an interrupt can end the wait. A
  /// link in the place of the file, or a file with more than one name, is refused.
  public init?(
    in folder: HeldFolder, name: String = "lock", holder: String,
    keepWaiting: (String?) -> Bool = { _ in false }
  ) throws(FileError) {
    var taken: (descriptor: Int32, refusal: Errno?)?
    var isFirst = true
    while taken == nil {
      taken = try Self.tryLock(folder, name)
      if taken == nil, isFirst {
        // The holder may be a short check by `isHeld`.
        usleep(2_000)
        taken = try Self.tryLock(folder, name)
      }
      isFirst = false
      if taken == nil {
        guard keepWaiting(Self.holder(in: folder, name: name)) else { return nil }
        usleep(100_000)
      }
    }
    guard let taken else { return nil }
    path = folder.path.appending(name)
    self.folder = folder
    self.name = name
    descriptor = taken.descriptor
    refusal = taken.refusal
    text = Array((holder + "\n" + Self.process + "\n").utf8)
    ftruncate(descriptor, 0)
    _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// Takes the lock at a path, whose links are followed. Creates missing folders.
  convenience init?(
    at path: FilePath, holder: String, keepWaiting: (String?) -> Bool
  ) throws(FileError) {
    try self.init(
      in: try HeldFolder.making(following: path.removingLastComponent()),
      name: path.lastComponent?.string ?? "", holder: holder, keepWaiting: keepWaiting)
  }

  /// Describes this process, for people who want to find the holder of a lock.
  private static let process =
    "host \(ProcessHome.hostName), process \(getpid()), "
    + "started at tick \(ProcessHome.startTicks(getpid()) ?? 0), "
    + "namespace \(ProcessHome.processNamespace), boot \(ProcessHome.bootID)"

  /// The descriptor of the locked file; `nil` if another process holds the lock.
  private static func tryLock(
    _ folder: HeldFolder, _ name: String
  ) throws(FileError) -> (descriptor: Int32, refusal: Errno?)? {
    try folder.check(name)
    while true {
      try folder.fault(.create, name, "lock")
      let opened = openat(
        folder.descriptor, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
      guard opened >= 0 else {
        let code = errno
        if code == ELOOP || code == ENXIO { try folder.refuse(name, operation: "lock") }
        throw folder.failure(code, name, "lock")
      }
      let found: FileStatus
      do throws(Errno) {
        found = try FileStatus(FileDescriptor(rawValue: opened))
      } catch {
        close(opened)
        throw folder.failure(error.rawValue, name, "lock")
      }
      guard found.kind == .file, found.links <= 1 else {
        close(opened)
        throw FileError.notOurs(
          folder.path.appending(name),
          found.links > 1 ? "has another name elsewhere" : "is not a file", operation: "lock")
      }
      let code = areNotShared ? nil : ask(opened, LOCK_EX)
      if let code, !noLocks.contains(code) {
        close(opened)
        if code == .wouldBlock { return nil }
        throw folder.failure(code.rawValue, name, "lock")
      }
      if isStillThere(folder, name, opened) { return (opened, code) }
      // The file was removed between opening and locking, so other processes do not see this lock.
      close(opened)
      guard folder.isInPlace else {
        throw FileError(.noSuchFileOrDirectory, path: folder.path, operation: "lock")
      }
    }
  }

  private static func isStillThere(
    _ folder: HeldFolder, _ name: String, _ descriptor: Int32
  ) -> Bool {
    guard let locked = try? FileStatus(FileDescriptor(rawValue: descriptor)),
      let named = try? folder.entry(name)
    else { return false }
    return locked.id == named.id
  }

  deinit {
    // Closing alone does not suffice. If another thread is starting a program at this moment, the
    // child has the descriptor until it executes the program, and would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// The text of another process that took the lock while this object holds it, which can happen
  /// only if locks are not shared. `nil` if there is no sign of one.
  public var other: String? {
    guard let bytes = try? folder.contents(of: name, limit: 1 << 16), bytes != text else {
      return nil
    }
    // The file may have been removed, or truncated by a process that is about to write its text.
    return Self.firstLine(bytes) ?? "somebody else"
  }

  /// Whether a process holds the lock at `path`; always `false` if the file system has no locks.
  /// Creates no file. Takes the lock in shared mode for an instant; `init` therefore tries twice.
  public static func isHeld(at path: FilePath) -> Bool {
    isHeld(EnclosedPaths.open(path, lookFlags))
  }

  /// Whether the lock `name` in a folder is held.
  public static func isHeld(in folder: HeldFolder, name: String) -> Bool {
    isHeld(openat(folder.descriptor, name, lookFlags))
  }

  private static let lookFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW

  /// - Parameter opened: is closed; negative: there is no such file.
  private static func isHeld(_ opened: Int32) -> Bool {
    guard opened >= 0 else { return false }
    defer {
      // As in `deinit`: the lock must not outlast this call while another program is being started.
      flock(opened, LOCK_UN)
      close(opened)
    }
    return ask(opened, LOCK_SH) == .wouldBlock
  }

  /// The text of the holder of the lock at `path`; `nil` if unknown.
  public static func holder(of path: FilePath) -> String? {
    guard let folder = try? HeldFolder.following(path.removingLastComponent()) else { return nil }
    return holder(in: folder, name: path.lastComponent?.string ?? "")
  }

  private static func holder(in folder: HeldFolder, name: String) -> String? {
    (try? folder.contents(of: name, limit: 1 << 16)).flatMap(firstLine)
  }

  private static func firstLine(_ bytes: [UInt8]) -> String? {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }
}
