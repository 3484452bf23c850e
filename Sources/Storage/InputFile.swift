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

  /// Opens `path`, following symbolic links.
  ///
  /// - Parameter root: a folder, without links in its own path, that the file must lie in after all
  ///   links are resolved; what lies elsewhere is not opened.
  public init(_ path: FilePath, inside root: FilePath? = nil) throws(FileError) {
    self.path = path
    // A handle that opens nothing, so that what is checked is what will be read.
    let handle = path.withPlatformString { open($0, Self.pathOnly | O_CLOEXEC) }
    guard handle >= 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "open")
    }
    defer { close(handle) }
    identity = try FileIdentity(FileDescriptor(rawValue: handle), path: path)
    let own = "/proc/self/fd/\(handle)"
    if let root {
      guard let place = Self.target(of: own) ?? Self.real(path), place.starts(with: root) else {
        throw FileError(
          kind: .other, path: path, operation: "open", reason: "it leads outside of \(root)")
      }
    }
    var opened = open(own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    if opened < 0, errno == ENOENT || errno == ENOTDIR {
      // Without /proc.
      opened = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    }
    guard opened >= 0 else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "open")
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

  /// `O_PATH`, which the module of the C library leaves out; the same on every Linux machine that Swift
  /// runs on.
  private static let pathOnly: Int32 = 0o10_000_000

  private static func target(of link: String) -> FilePath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink(link, &buffer, buffer.count - 1)
    return count > 0 ? FilePath(platformString: buffer) : nil
  }

  private static func real(_ path: FilePath) -> FilePath? {
    guard let real = path.withPlatformString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return FilePath(platformString: real)
  }
}
