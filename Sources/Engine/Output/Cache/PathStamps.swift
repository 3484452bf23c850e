import Core
import SystemPackage

/// Paths and a digest of what lay at them, for asking many times whether everything is still as it was.
///
/// Stricter than `FileStamp`: kind, permissions, size, both times and inode of files, folders and links count, and
/// that nothing lies where nothing lay. On a file system that `HeldFolder.tellsOfNames`, the times of a folder tell
/// that no name in it was added, removed or replaced, so that other absent files need no look of their own.
///
/// Cost of asking: one system call per path, three more for each folder that captures lie in, and one digest of 40 bytes
/// per path.
struct PathStamps: Hashable, Sendable {
  /// For each path the number of bytes that it has in common with the beginning of the one before it (two bytes,
  /// little-endian), its other bytes, and a zero.
  var paths: ArraySlice<UInt8>
  var digest: Digest
}

extension PathStamps {
  /// - Parameter found: paths as text (`PathText`), whole or relative to the root of the folders that are given when it
  ///   is asked, and what lies there; `nil`: nothing.
  init(_ found: [(path: String, status: FileStatus?)]) {
    var (paths, fields): ([UInt8], [UInt8]) = ([], [])
    fields.reserveCapacity(found.count * Self.bytesOfStatus)
    var before: [UInt8] = []
    for (path, status) in found {
      let path = PathText.bytes(of: path)
      let shared = min(zip(before, path).prefix { $0 == $1 }.count, Int(UInt16.max))
      withUnsafeBytes(of: UInt16(shared).littleEndian) { paths.append(contentsOf: $0) }
      paths += path[shared...]
      paths.append(0)
      before = path
      Self.put(status, &fields)
    }
    self.init(paths: paths[...], digest: Digest(of: fields))
  }

  private static let bytesOfStatus = 40

  private static func put(_ status: FileStatus?, _ fields: inout [UInt8]) {
    let mode = Int64(status?.mode ?? 0).littleEndian
    guard let status else {
      return withUnsafeBytes(of: mode) { fields.append(contentsOf: $0) }
    }
    // The size of a folder depends on how it was filled, and tells nothing.
    let bytes = status.kind == .folder ? 0 : status.bytes
    let all = (
      mode, bytes.littleEndian, status.modifiedNanoseconds.littleEndian,
      status.changedNanoseconds.littleEndian, status.inode.littleEndian
    )
    withUnsafeBytes(of: all) { fields.append(contentsOf: $0) }
  }

  /// Whether at every path lies what lay there. Links are followed except at the end.
  func areCurrent(in folders: StampFolders) -> Bool {
    var (fields, path): ([UInt8], [UInt8]) = ([], [])
    fields.reserveCapacity(paths.count * 2)
    path.reserveCapacity(256)
    var way = folders.way(to: path)
    var rest = paths
    while !rest.isEmpty {
      guard rest.count > 2 else { return false }
      let start = rest.startIndex
      let shared = Int(rest[start]) | Int(rest[start + 1]) << 8
      guard shared <= max(0, path.count - 1), let end = rest[(start + 2)...].firstIndex(of: 0)
      else {
        return false
      }
      path.replaceSubrange(shared..., with: rest[(start + 2)...end])
      // The beginning up to the open folder is that of the path before.
      if way.bytes == 0 || shared < way.bytes { way = folders.way(to: path) }
      let status = path[way.bytes...].withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          $0.baseAddress.flatMap(way.folder.status(ofRaw:))
        }
      }
      Self.put(status, &fields)
      rest = rest[(end + 1)...]
    }
    return Digest(of: fields) == digest
  }
}

/// The open folders that paths of stamps are looked at from: the root of an output, and the folder in which the last
/// whole path lay, so that the way to the captures is resolved once and not once per file: a third of the time of a look.
///
/// Not kept longer than one pass over some captures takes: a folder that takes the place of an open one is not noticed.
final class StampFolders {
  private let root: HeldFolder
  /// With the slash at its end.
  private var path: [UInt8] = []
  /// `nil`: it cannot be opened.
  private var folder: HeldFolder?

  init(_ root: HeldFolder) { self.root = root }

  /// The folder from which to look at `path`, which ends with a zero, and how many of its bytes lead there.
  func way(to path: [UInt8]) -> (folder: HeldFolder, bytes: Int) {
    let slash = UInt8(ascii: "/")
    guard path.first == slash, let end = path.lastIndex(of: slash), end > 0 else {
      return (root, 0)
    }
    if !path[...end].elementsEqual(self.path) {
      self.path = Array(path[...end])
      folder = HeldFolder(FilePath(text: PathText.text(of: path[..<end])))
    }
    return folder.map { ($0, end + 1) } ?? (root, 0)
  }
}
