import CPlatform
import Glibc
import Synchronization
import SystemPackage

/// Writes whole files at paths whose links may be followed.
public enum OutputFile {
  /// Writes a file of exactly these bytes; existing content is replaced. Links in the path are
  /// followed as far as `EnclosedPaths` allows; a link in the place of the file is refused.
  /// `durably` adds an `fsync`.
  public static func write(
    _ bytes: [UInt8], to path: FilePath, durably: Bool = false
  ) throws(FileError) {
    guard let name = path.name else {
      throw FileError(.isDirectory, path: path, operation: "write")
    }
    let above = path.removingLastComponent()
    let folder: HeldFolder
    do throws(Errno) {
      folder = HeldFolder(
        taking: try HeldFolder.open(above.isEmpty ? FilePath(".") : above), at: above)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
    try folder.overwrite(name, with: bytes, durably: durably)
  }
}

/// An append-only text file, written by several threads and by other programs.
///
/// Created with the first write. Writing never throws, because a failing log must not stop the
/// work.
public final class LogFile: Sendable {
  public let path: FilePath
  private let root: FilePath
  private let file = Mutex<FileDescriptor?>(nil)

  /// - Parameter root: a folder above the file that the user named; links below it are not
  ///   followed. `nil` for the folder of the file.
  public init(_ path: FilePath, below root: FilePath? = nil) {
    self.path = path
    self.root = root ?? path.removingLastComponent()
  }

  deinit {
    file.withLock { try? $0?.close() }
  }

  /// Appends a line.
  public func write(_ line: String) {
    _ = try? withDescriptor { try $0.writeAll(Array((line + "\n").utf8)) }
  }

  /// Appends bytes unchanged.
  public func write(bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    _ = try? withDescriptor { try $0.writeAll(bytes) }
  }

  /// Passes the open file, in append mode, to `body`, for another program to write to.
  public func withDescriptor<Result>(_ body: (FileDescriptor) throws -> Result) throws -> Result {
    try file.withLock { file in
      if let file { return try body(file) }
      let opened = try open()
      file = opened
      return try body(opened)
    }
  }

  private func open() throws(FileError) -> FileDescriptor {
    var rest = path
    guard rest.removePrefix(root), let name = rest.lastComponent?.string else {
      throw FileError(kind: .other, path: path, operation: "create", reason: "not below \(root)")
    }
    var folder = try HeldFolder.making(following: root)
    for component in rest.removingLastComponent().components {
      folder = try folder.makeFolder(component.string)
    }
    return try folder.append(to: name)
  }

  /// The last lines of a file, at most `count` and about 8 KB, escaped for display. Empty if the
  /// file cannot be read.
  public static func tail(of path: FilePath, lines count: Int) -> [String] {
    guard let file = try? EnclosedPaths.openForReading(path) else {
      return []
    }
    defer { try? file.close() }
    let most: Int64 = 8192
    guard let size = try? file.seek(offset: 0, from: .end),
      let start = try? file.seek(offset: max(0, size - most), from: .start)
    else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(most)) { buffer, count in
      count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
    }
    var lines = String(decoding: bytes, as: UTF8.self)
      .split(omittingEmptySubsequences: true) { $0 == "\n" || $0 == "\r" }
    // The first line is usually incomplete.
    if start > 0, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(count).map { String($0).shown }
  }
}

/// A file of an unfinished artifact. One thread at a time appends to it.
public final class StagedFile {
  private let name: String
  private let path: FilePath
  private let folder: StagingFolder
  private let file: FileDescriptor
  private let hasher = Digest.Hasher()
  private var bytes: Int64 = 0
  /// Number of bytes whose write-back has been started.
  private var begun: Int64 = 0
  private var isOpen = true

  /// `file` must be new and empty.
  init(_ file: FileDescriptor, name: String, path: FilePath, folder: StagingFolder) {
    self.file = file
    self.name = name
    self.path = path
    self.folder = folder
  }

  deinit {
    if isOpen { try? file.close() }
  }

  /// Appends bytes and adds them to the digest.
  public func append(_ piece: [UInt8]) throws(FileError) {
    do {
      try piece.withUnsafeBytes { try append(raw: $0) }
    } catch {
      throw error as? FileError ?? FileError(.ioError, path: path, operation: "write")
    }
  }

  func append(raw piece: UnsafeRawBufferPointer) throws {
    do {
      if let fault = StorageFaults.fault(.write, path) { throw fault }
      _ = try file.writeAll(piece)
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
    hasher.update(piece)
    bytes += Int64(piece.count)
    if bytes - begun >= WritebackHint.pieceBytes { beginWriting() }
  }

  private func beginWriting() {
    WritebackHint.begin(file, from: begun, bytes: bytes - begun)
    begun = bytes
  }

  /// Closes the file and adds it to the artifact. A file without this call is not part of the
  /// artifact.
  public func finish() throws(FileError) {
    guard isOpen else { return }
    isOpen = false
    if bytes - begun >= Int64(WritebackHint.leastBytes) { beginWriting() }
    do {
      try file.close()
    } catch {
      throw FileError(error, path: path, operation: "close")
    }
    folder.record(name, bytes: bytes, digest: hasher.finish())
  }
}

/// Hints that make writing artifacts cheaper for the kernel. Results do not depend on them; file
/// systems may ignore them.
package enum WritebackHint {
  /// For smaller files the hints cost as many system calls as they save.
  static let leastBytes = 64 << 10
  /// Write-back of a long file is started after this many bytes.
  package static let pieceBytes: Int64 = 8 << 20

  /// Announces that `bytes` bytes will be written to the new, empty `file` at once.
  static func expect(_ bytes: Int, in file: FileDescriptor) {
    if bytes >= leastBytes { scanmill_expect_bytes(file.rawValue, Int64(bytes)) }
  }

  /// Starts write-back of `file` from `offset` on. Measured with 200 files of 1.5 MB: the final
  /// flush, during which no core works, takes a fiftieth of the time.
  package static func begin(_ file: FileDescriptor, from offset: Int64 = 0, bytes: Int64) {
    scanmill_start_writing_back(file.rawValue, offset, bytes)
  }
}

/// A method to put an unchanged file of one artifact into another.
public enum FileSharing: String, Hashable, Sendable, CaseIterable {
  /// Shares the blocks until either file is written.
  case clone
  /// A second name of the same file. Writing to one in place changes the other.
  case link
  /// Copies the bytes.
  case copy
}
