import SystemPackage
import Glibc

/// A regular file that is read rather than mapped. If another process shortens it, a read returns
/// fewer bytes, whereas access to a mapped page would end the process with SIGBUS.
///
/// For headers, and for small files as a whole. Pipes, devices, sockets and folders are refused
/// without being opened, because opening can block or have side effects.
public final class InputFile: Sendable {
  public let path: FilePath
  /// The file's identity when it was opened.
  let identity: FileIdentity
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

  /// - Parameter open: opens the file with these flags; returns a descriptor or a negative error
  ///   number.
  private init(_ path: FilePath, open: (_ flags: Int32) -> Int32) throws(FileError) {
    self.path = path
    // An `O_PATH` handle does not open the content. It ensures that the file that is checked is the
    // file that is read.
    let handle = open(EnclosedFolder.pathOnly | O_CLOEXEC)
    guard handle >= 0 else {
      throw FileError(Errno(rawValue: -handle), path: path, operation: "open")
    }
    defer { close(handle) }
    identity = try FileIdentity(FileDescriptor(rawValue: handle), path: path)
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    var opened =
      StorageFaults.fails(.open, path) ? -1 : Glibc.open("/proc/self/fd/\(handle)", flags)
    if opened < 0 {
      // `/proc` is not mounted.
      opened = errno == ENOENT || errno == ENOTDIR ? open(flags) : -errno
    }
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: -opened), path: path, operation: "open")
    }
    descriptor = FileDescriptor(rawValue: opened)
  }

  deinit { try? descriptor.close() }

  /// Size in bytes when it was opened.
  public var count: Int { Int(clamping: identity.bytes) }

  /// Whether nothing of it changed after this time (since 1970), not even its mode or its number of names.
  public func isUnchanged(sinceNanoseconds time: Int64) -> Bool {
    (try? FileStatus(descriptor)).map { $0.changedNanoseconds <= time } ?? false
  }

  /// Writes the content at the offset of `file`. No byte passes through this process.
  public func append(to file: FileDescriptor) throws(Errno) {
    if StorageFaults.fails(.read, path) { throw Errno(rawValue: errno) }
    try file.append(identity.bytes, of: descriptor)
  }

  /// The first bytes, at most `limit`.
  public func head(_ limit: Int) throws(FileError) -> [UInt8] {
    try bytes(at: 0, count: limit)
  }

  /// The whole content, of at most `limit` bytes. The result is shorter if the file was shortened
  /// meanwhile.
  public func whole(limit: InputLimit) throws(FileError) -> [UInt8] {
    try limit.check(count, of: path)
    return try bytes(at: 0, count: count)
  }

  /// `count` bytes from `offset` on; fewer at the end of the file.
  public func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
    let wanted = max(0, min(count, self.count - offset))
    guard wanted > 0 else { return [] }
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      let target = UnsafeMutableRawBufferPointer(buffer)
      while filled < wanted {
        do {
          if StorageFaults.fails(.read, path) { throw Errno(rawValue: errno) }
          let step = try descriptor.read(
            fromAbsoluteOffset: Int64(offset + filled),
            into: UnsafeMutableRawBufferPointer(rebasing: target[filled..<wanted]))
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
