import Captures
import Core
import SystemPackage

/// How much there is to read of captures. Folders that many captures share are listed once.
package struct CaptureSizes {
  package init() {}

  private var shared: [FilePath: [(name: String, bytes: Int64)]] = [:]

  /// Bytes of the capture's files; 0 where they cannot be looked at.
  package mutating func bytes(of capture: Recognition) -> Int64 {
    guard let stem = capture.stem else { return FolderSize(of: capture.path).bytes }
    let files = files(in: capture.folder)
    let low = files.partitioningIndex { !$0.name.utf8.lexicographicallyPrecedes(stem.utf8) }
    return files[low...].prefix { $0.name.utf8.starts(with: stem.utf8) }
      .reduce(0) { $0 + $1.bytes }
  }

  private mutating func files(in folder: FilePath) -> [(name: String, bytes: Int64)] {
    if let known = shared[folder] { return known }
    let names = ((try? FileSystem.names(in: folder)) ?? []).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    let root = try? EnclosedFolder(folder)
    let found = names.map { name in
      (name: name, bytes: root?.stamp(of: name)?.bytes ?? 0)
    }
    shared[folder] = found
    return found
  }
}
