import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// An exclusive `flock` on a file: held until the object or the process ends, whatever ends it, so
/// that nothing needs unlocking after a kill.
///
/// There are file systems that keep locks to one machine or one mount (`localflock` of Lustre,
/// `local_lock` of NFS): two may then hold it at once. `other` tells it as soon as it shows. And there are
/// those without any (Lustre without `flock`, NFS whose lock service is down): everybody gets it, and
/// `refusal` tells why.
public final class FileLock: Sendable {
  public let path: FilePath
  private let folder: HeldFolder
  private let name: String
  private let descriptor: Int32
  /// What we wrote into it.
  private let text: [UInt8]
  /// What the file system said when it was asked for a lock and has none: nobody is kept out by this one.
  public let refusal: Errno?

  /// A seam for tests: locks are taken as where they are not shared.
  @TaskLocal package static var areNotShared = false
  /// The same: what every `flock` answers.
  @TaskLocal package static var answer: Errno?

  /// Says that a file system has no locks. `ENOLCK` also comes from a server whose table is full, and from
  /// one that is not reached: who waited would wait for a long time.
  private static let noLocks: Set<Errno> = [
    .noFunction, .noLocks, .notSupportedOnSocket,
  ]

  /// `flock` without waiting; the code of its error.
  private static func ask(_ descriptor: Int32, _ operation: Int32) -> Errno? {
    if let answer { return answer }
    while true {
      if flock(descriptor, operation | LOCK_NB) == 0 { return nil }
      if errno != EINTR { return Errno(rawValue: errno) }
    }
  }

  /// Takes the lock. While somebody else holds it, `keepWaiting` is asked about ten times a second
  /// (given what the holder wrote); `nil` once it says no. `holder` is written into the file for others
  /// to name, and behind it the process and where its number counts.
  ///
  /// The file is asked for again and again instead of waiting inside `flock`, so that an interrupt can
  /// end the wait. A link in the place of the file, or a file with a second name elsewhere, is refused.
  public init?(
    in folder: HeldFolder, name: String = "lock", holder: String,
    keepWaiting: (String?) -> Bool
  ) throws(FileError) {
    var taken: (descriptor: Int32, refusal: Errno?)?
    var isFirst = true
    while taken == nil {
      taken = try Self.tryLock(folder, name)
      if taken == nil, isFirst {
        // It may have been somebody who only looked (`isHeld`).
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

  /// At a path that the caller vouches for; folders above it are made.
  public convenience init?(
    at path: FilePath, holder: String, keepWaiting: (String?) -> Bool
  ) throws(FileError) {
    try self.init(
      in: try HeldFolder.making(following: path.removingLastComponent()),
      name: path.lastComponent?.string ?? "", holder: holder, keepWaiting: keepWaiting)
  }

  /// This process, for people who look for who holds a lock.
  private static let process =
    "host \(ProcessHome.hostName), process \(getpid()), "
    + "started at tick \(ProcessHome.startTicks(getpid()) ?? 0), "
    + "namespace \(ProcessHome.processNamespace), boot \(ProcessHome.bootID)"

  /// The descriptor of the locked file, or `nil` when somebody else has it.
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
      let status = try? FileStatus(FileDescriptor(rawValue: opened))
      guard let found = status, found.kind == .file, found.links <= 1 else {
        close(opened)
        throw FileError.notOurs(
          folder.path.appending(name),
          (status?.links ?? 0) > 1 ? "has another name elsewhere" : "is not a file",
          operation: "lock")
      }
      let code = areNotShared ? nil : ask(opened, LOCK_EX)
      if let code, !noLocks.contains(code) {
        close(opened)
        if code == .wouldBlock { return nil }
        throw folder.failure(code.rawValue, name, "lock")
      }
      if isStillThere(folder, name, opened) { return (opened, code) }
      // The file was removed between opening and locking: this lock is nobody's any more.
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
    // Closing alone is not enough: a program that another thread is starting at this moment has the
    // descriptor too, until it is executed, and the lock would last as long.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Who has taken the lock while we hold it, which only happens where locks are not shared; `nil`:
  /// nobody that shows.
  public var other: String? {
    guard let bytes = try? folder.contents(of: name, limit: 1 << 16), bytes != text else {
      return nil
    }
    // Its file may have been removed, or cut just now by who is about to write its name.
    return Self.firstLine(bytes) ?? "somebody else"
  }

  /// Whether somebody holds the lock at `path` now; never, where the file system has no locks. Creates
  /// nothing. The look takes the lock for an instant, shared; who asks for it in earnest asks twice.
  public static func isHeld(at path: FilePath) -> Bool {
    let opened = EnclosedPaths.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard opened >= 0 else { return false }
    defer {
      // As in `deinit`: a look must not last as long as the start of another program.
      flock(opened, LOCK_UN)
      close(opened)
    }
    return ask(opened, LOCK_SH) == .wouldBlock
  }

  /// What the holder of the lock at `path` wrote about itself; `nil` when it is unknown.
  public static func holder(of path: FilePath) -> String? {
    guard let folder = try? HeldFolder.following(path.removingLastComponent()) else { return nil }
    return holder(in: folder, name: path.lastComponent?.string ?? "")
  }

  private static func holder(in folder: HeldFolder, name: String) -> String? {
    (try? folder.contents(of: name, limit: 1 << 16)).flatMap { $0 }.flatMap(firstLine)
  }

  private static func firstLine(_ bytes: [UInt8]) -> String? {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }
}
