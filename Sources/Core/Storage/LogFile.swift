import Synchronization
import SystemPackage
import Glibc

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
