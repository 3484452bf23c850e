import Glibc
import Synchronization
import SystemPackage

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

/// A folder of many small files, each read as a whole. It is opened when the first file is read and
/// then held, so that its path is resolved once.
///
/// As with `InputFile`, only regular files are opened, and a link is followed as far as
/// `EnclosedPaths` allows. Thread-safe. If another folder takes its place meanwhile, the files are
/// still those of the folder that was opened.
///
/// Cost: one descriptor, and five system calls per file, of which `InputFile` needs eight. A file
/// that is a link, or cannot be read, costs those of both.
public final class InputFolder: Sendable {
  public let path: FilePath
  private let held = Mutex(Held.unopened)

  private enum Held {
    case unopened
    /// `nil` if it cannot be opened: `InputFile` then says why.
    case opened(HeldFolder?)
  }

  /// Opens nothing yet. Links in `path` are followed as far as `EnclosedPaths` allows.
  public init(_ path: FilePath) {
    self.path = path
  }

  /// The whole content of the file `name`, in the form of `PathText`, of at most `limit` bytes. The
  /// result is shorter if the file was shortened meanwhile.
  public func whole(_ name: String, limit: InputLimit) throws(FileError) -> [UInt8] {
    // A pipe or device is not opened at all, because that can block or have side effects.
    if let folder = folder(), folder.stamp(of: name) != nil,
      let found = folder.stampedContents(of: name, limit: limit.most)
    {
      return found.bytes
    }
    return try InputFile(path.appending(name: name)).whole(limit: limit)
  }

  private func folder() -> HeldFolder? {
    held.withLock { held in
      if case .opened(let folder) = held { return folder }
      let folder = HeldFolder(path)
      held = .opened(folder)
      return folder
    }
  }
}

/// A file mapped into memory for reading.
///
/// Mapping costs the same for any size; pages are loaded on access. If another process truncates
/// the file, access raises SIGBUS. Code that reads untrusted files therefore runs in a worker
/// process and checks `FileIdentity` again afterwards.
public final class MappedFile: Sendable {
  public let path: FilePath
  /// Size in bytes.
  public let count: Int
  /// The file's identity when it was opened.
  let identity: FileIdentity
  // Safe: the pages are read-only and live as long as the object.
  private nonisolated(unsafe) let start: UnsafeRawPointer?
  /// Whether the pages belong to the file, so that they can be released and loaded again.
  private let isShared: Bool
  private let readSinceGivenBack = Atomic<Int>(0)

  /// Opens and maps `path`. An empty file has no bytes; a folder or device is refused.
  public init(_ path: FilePath) throws(FileError) {
    do {
      // Non-blocking, so that a named pipe is refused rather than waited for.
      let file = try EnclosedPaths.openForReading(path)
      defer { try? file.close() }
      let identity = try FileIdentity(file, path: path)
      let bytes = Int(identity.bytes)
      var mapped: UnsafeRawPointer?
      if bytes > 0 {
        let address = mmap(nil, bytes, PROT_READ, MAP_PRIVATE, file.rawValue, 0)
        guard address != MAP_FAILED else { throw Errno(rawValue: errno) }
        mapped = UnsafeRawPointer(address)
      }
      self.path = path
      self.identity = identity
      count = bytes
      start = mapped
      isShared = true
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "map")
    } catch let error as FileError {
      throw error
    } catch {
      throw FileError(kind: .other, path: path, operation: "map", reason: "\(error)")
    }
  }

  /// A copy of a small file in memory, which other processes cannot truncate.
  public init(copyOf file: InputFile) throws(FileError) {
    let bytes = try file.head(file.count)
    path = file.path
    identity = file.identity
    count = bytes.count
    isShared = false
    guard count > 0 else {
      start = nil
      return
    }
    let address = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let address, address != MAP_FAILED else {
      throw FileError(Errno(rawValue: errno), path: file.path, operation: "copy")
    }
    address.copyMemory(from: bytes, byteCount: count)
    start = UnsafeRawPointer(address)
  }

  deinit {
    if let start { munmap(UnsafeMutableRawPointer(mutating: start), count) }
  }

  /// Passes all bytes to `body`; every access is bounds-checked. The span must not escape from
  /// `body`.
  public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
  }

  /// Gives the bytes of `range`, clamped to the file.
  public func withBytes<Result>(
    in range: Range<Int>, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    try withBytes { try body($0.extracting(range.clamped(to: 0..<count))) }
  }

  /// Tells the kernel to read ahead, because the bytes will be read in order.
  public func willReadInOrder() {
    guard let start, isShared else { return }
    madvise(UnsafeMutableRawPointer(mutating: start), count, MADV_SEQUENTIAL)
  }

  /// Notes that `bytes` bytes were read somewhere in the file and are no longer needed.
  ///
  /// After every 4 MiB, or the whole file if it is smaller, all pages are released from the process
  /// but not from the page cache, so that long reads do not count as memory in use. Pages that
  /// another thread reads are mapped again on access. Releasing only the read range does not
  /// suffice, because Linux maps whole large folios around a touched page.
  public func didRead(bytes: Int) {
    guard let start, isShared else { return }
    let total = readSinceGivenBack.wrappingAdd(bytes, ordering: .relaxed).newValue
    guard total >= min(1 << 22, count) else { return }
    readSinceGivenBack.store(0, ordering: .relaxed)
    madvise(UnsafeMutableRawPointer(mutating: start), count, MADV_DONTNEED)
  }
}

/// The values that reveal a change of a file without reading it: size, modification time, inode,
/// device.
public struct FileIdentity: Hashable, Sendable, Codable {
  public var bytes: Int64
  var modifiedNanoseconds: Int64
  var inode: UInt64
  var device: UInt64

  /// Follows symbolic links as far as `EnclosedPaths` allows. Throws unless the target is a regular
  /// file.
  public init(of path: FilePath) throws(FileError) {
    try self.init(path) { () throws(Errno) in try FileStatus(of: path) }
  }

  init(_ file: FileDescriptor, path: FilePath) throws(FileError) {
    try self.init(path) { () throws(Errno) in try FileStatus(file) }
  }

  private init(
    _ path: FilePath, _ look: () throws(Errno) -> FileStatus
  ) throws(FileError) {
    let found: FileStatus
    do throws(Errno) {
      found = try look()
    } catch {
      throw FileError(error, path: path, operation: "look at")
    }
    guard found.kind == .file else {
      throw FileError(
        kind: .other, path: path, operation: "look at", reason: "not a regular file")
    }
    bytes = found.bytes
    modifiedNanoseconds = found.modifiedNanoseconds
    inode = found.inode
    device = found.device
  }
}

extension RawSpan {
  /// The little-endian integer at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value? {
    guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
    return Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The big-endian integer at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value? {
    guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
    return Value(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The little-endian `Double` at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndianDouble(at offset: Int) -> Double? {
    littleEndian(UInt64.self, at: offset).map(Double.init(bitPattern:))
  }

  /// The little-endian `Float` at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndianFloat(at offset: Int) -> Float? {
    littleEndian(UInt32.self, at: offset).map(Float.init(bitPattern:))
  }
}
