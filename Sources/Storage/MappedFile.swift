import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A file mapped into memory for reading.
///
/// Mapping costs the same whatever the file's size; pages come in when they are touched. A file that
/// someone truncates while it is mapped raises SIGBUS on access: callers that cannot trust the other
/// side run in a worker process and look at the file again afterwards (`FileIdentity`).
public final class MappedFile: Sendable {
  public let path: FilePath
  /// Bytes.
  public let count: Int
  /// What the file was when it was opened.
  public let identity: FileIdentity
  // Safe: read-only pages that live as long as the object.
  private nonisolated(unsafe) let start: UnsafeRawPointer?
  /// Whether the pages are the file's own, which come back when they were given away.
  private let isShared: Bool
  private let readSinceGivenBack = Atomic<Int>(0)

  /// Opens and maps `path`. An empty file maps to no bytes; a folder or device is refused.
  public init(_ path: FilePath) throws(FileError) {
    do {
      // Not blocking: a named pipe must be refused, not waited for.
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

  /// A copy of a small file in memory that nobody can shorten.
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

  /// All bytes, bounds-checked on every access. The span must not leave `body`.
  public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
  }

  /// The bytes of `range`, cut to the file.
  public func withBytes<Result>(
    in range: Range<Int>, _ body: (RawSpan) throws -> Result
  ) rethrows -> Result {
    try withBytes { try body($0.extracting(range.clamped(to: 0..<count))) }
  }

  /// Tells the kernel that the bytes will be read in order, so that it reads ahead.
  public func willReadInOrder() {
    guard let start, isShared else { return }
    madvise(UnsafeMutableRawPointer(mutating: start), count, MADV_SEQUENTIAL)
  }

  /// Says that `bytes` bytes were read somewhere in the file and are not needed any more.
  ///
  /// After every 4 MiB, or once the whole file, all pages leave the process (not the page cache; what another thread is reading
  /// comes back at once), so that a long read does not count as memory in use. Giving back just what was
  /// read would not do: Linux maps whole large folios around a page that is touched.
  public func didRead(bytes: Int) {
    guard let start, isShared else { return }
    let total = readSinceGivenBack.wrappingAdd(bytes, ordering: .relaxed).newValue
    guard total >= min(1 << 22, count) else { return }
    readSinceGivenBack.store(0, ordering: .relaxed)
    madvise(UnsafeMutableRawPointer(mutating: start), count, MADV_DONTNEED)
  }
}
