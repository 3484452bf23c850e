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

  /// Opens and maps `path`. An empty file maps to no bytes; a folder or device is refused.
  public init(_ path: FilePath) throws(FileError) {
    do {
      // Not blocking: a named pipe must be refused, not waited for.
      let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
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
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "map")
    } catch let error as FileError {
      throw error
    } catch {
      throw FileError(kind: .other, path: path, operation: "map", reason: "\(error)")
    }
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
    if let start { madvise(UnsafeMutableRawPointer(mutating: start), count, MADV_SEQUENTIAL) }
  }

  /// Tells the kernel that the bytes of `range` are not needed any more: their pages leave the process
  /// (not the page cache) and come back on access. Keeps the memory of a long read constant.
  ///
  /// Rounds outward to 64 KiB: that much Linux maps around a page that is touched, and what it mapped
  /// along has to go too.
  public func giveBackPages(in range: Range<Int>) {
    let around = 65_536
    let range = range.clamped(to: 0..<count)
    guard let start, !range.isEmpty else { return }
    let first = range.lowerBound / around * around
    let end = min(count, (range.upperBound + around - 1) / around * around)
    madvise(UnsafeMutableRawPointer(mutating: start + first), end - first, MADV_DONTNEED)
  }
}
