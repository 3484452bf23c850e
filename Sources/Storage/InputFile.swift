import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A regular file that is read, not mapped: when somebody shortens it meanwhile, reading gives fewer bytes,
/// where a mapped page that is gone ends the process (SIGBUS).
///
/// For heads, and for whole files that are small. Pipes, devices, sockets and folders are refused
/// without being opened: opening alone can wait for ever or do something.
public final class InputFile: Sendable {
  public let path: FilePath
  /// What the file was when it was opened.
  public let identity: FileIdentity
  private let descriptor: FileDescriptor

  /// Opens `path`, following symbolic links as far as `EnclosedPaths` allows.
  public convenience init(_ path: FilePath) throws(FileError) {
    try self.init(path) { flags in
      let opened = EnclosedPaths.open(path, flags)
      return opened < 0 ? -errno : opened
    }
  }

  /// Opens a path relative to an enclosed folder.
  public convenience init(_ relative: String, in folder: EnclosedFolder) throws(FileError) {
    let path = folder.path.pushing(FilePath(text: relative))
    try self.init(path) { folder.open(relative, $0) }
  }

  /// - Parameter open: opens the file with these flags: a descriptor, or a negative error number.
  private init(_ path: FilePath, open: (_ flags: Int32) -> Int32) throws(FileError) {
    self.path = path
    // A handle that opens nothing, so that what is checked is what will be read.
    let handle = open(EnclosedFolder.pathOnly | O_CLOEXEC)
    guard handle >= 0 else {
      throw FileError(Errno(rawValue: -handle), path: path, operation: "open")
    }
    defer { close(handle) }
    identity = try FileIdentity(FileDescriptor(rawValue: handle), path: path)
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    var opened = Glibc.open("/proc/self/fd/\(handle)", flags)
    if opened < 0 {
      // Without /proc.
      opened = errno == ENOENT || errno == ENOTDIR ? open(flags) : -errno
    }
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: -opened), path: path, operation: "open")
    }
    descriptor = FileDescriptor(rawValue: opened)
  }

  deinit { try? descriptor.close() }

  /// Bytes, when it was opened.
  public var count: Int { Int(clamping: identity.bytes) }

  /// The first bytes, at most `limit`.
  public func head(_ limit: Int) throws(FileError) -> [UInt8] {
    try bytes(at: 0, count: limit)
  }

  /// All bytes of a file of at most `limit` bytes; `what` names the limit in the message. A file that
  /// got shorter gives what is left.
  public func whole(limit: InputLimit) throws(FileError) -> [UInt8] {
    try limit.check(count, of: path)
    return try bytes(at: 0, count: count)
  }

  /// `count` bytes from `offset` on, fewer at the end of the file.
  public func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let wanted = max(0, min(count, self.count - offset))
    guard wanted > 0 else { return [] }
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      let room = UnsafeMutableRawBufferPointer(buffer)
      while filled < wanted {
        do {
          let step = try descriptor.read(
            fromAbsoluteOffset: Int64(offset + filled),
            into: UnsafeMutableRawBufferPointer(rebasing: room[filled..<wanted]))
          if step == 0 { return }
          filled += step
        } catch {
          failure = error as? Errno ?? .ioError
          return
        }
      }
    }
    if let failure { throw FileError(failure, path: path, operation: "read") }
    return bytes
  }
}
