import SystemPackage

/// Paths and a digest of what lay at them, for asking many times whether everything is still as it was.
///
/// Stricter than `FileStamp`: kind, permissions, size, both times and inode of files, folders and links count, and
/// that nothing lies where nothing lay. On a file system that `HeldFolder.tellsOfNames`, the times of a folder tell
/// that no name in it was added, removed or replaced, so that other absent files need no look of their own.
///
/// Cost of asking: one system call per path and one digest of 40 bytes per path.
public struct PathStamps: Hashable, Sendable {
  /// Each with a zero at its end.
  public let paths: [UInt8]
  public let digest: Digest

  /// What another process noted; a damaged note is not current.
  public init(paths: [UInt8], digest: Digest) {
    self.paths = paths
    self.digest = digest
  }

  /// - Parameter found: paths as text (`PathText`), whole or relative to the folder that is given when it is asked,
  ///   and what lies there; `nil`: nothing.
  public init(_ found: [(path: String, status: FileStatus?)]) {
    var (paths, fields): ([UInt8], [UInt8]) = ([], [])
    fields.reserveCapacity(found.count * Self.bytesOfStatus)
    for (path, status) in found {
      paths += PathText.bytes(of: path)
      paths.append(0)
      Self.put(status, &fields)
    }
    self.init(paths: paths, digest: Digest(of: fields))
  }

  private static let bytesOfStatus = 40

  private static func put(_ status: FileStatus?, _ fields: inout [UInt8]) {
    func put(_ field: Int64) {
      withUnsafeBytes(of: field.littleEndian) { fields.append(contentsOf: $0) }
    }
    put(status.map { Int64($0.mode) } ?? 0)
    guard let status else { return }
    // The size of a folder depends on how it was filled, and tells nothing.
    put(status.kind == .folder ? 0 : status.bytes)
    put(status.modifiedNanoseconds)
    put(status.changedNanoseconds)
    put(Int64(bitPattern: status.inode))
  }

  /// Whether at every path lies what lay there. Links are followed except at the end.
  ///
  /// - Parameter folder: what relative paths are relative to.
  public func areCurrent(in folder: HeldFolder) -> Bool {
    // A text without an end would be read beyond its array.
    guard paths.isEmpty || paths.last == 0 else { return false }
    var fields: [UInt8] = []
    fields.reserveCapacity(paths.count)
    paths.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { chars in
        var start = 0
        for (index, byte) in chars.enumerated() where byte == 0 {
          if let base = chars.baseAddress {
            Self.put(folder.status(ofRaw: base + start), &fields)
          }
          start = index + 1
        }
      }
    }
    return Digest(of: fields) == digest
  }
}
