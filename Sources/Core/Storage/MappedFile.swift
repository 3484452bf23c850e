import Synchronization
import SystemPackage
import Glibc

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
