import Storage
import SystemPackage

/// What a folder holds, one level deep.
public struct FolderListing: Sendable {
  public var folder: FilePath
  /// Names of regular files (links to files inside the folder included), sorted by name.
  public var files: [String]
  /// Names of subfolders, sorted by name.
  public var subfolders: [String]

  /// Lists `folder`. Links that lead outside of it are left out. Cost: one directory read, and a few
  /// looks at each link.
  public init(of folder: FilePath) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    guard let open = OpenFolder(folder.string) else {
      throw FileError(
        kind: .notFound, path: folder, operation: "list", reason: "not a readable folder")
    }
    for (name, kind) in open.entries() {
      switch kind {
      case .file: files.append(name)
      case .folder: subfolders.append(name)
      case .link:
        let path = folder.appending(name)
        if open.stamp(of: name) != nil {
          if PathSafety.resolves(path, inside: folder) { files.append(name) }
        } else if FileSystem.isFolder(path) {
          subfolders.append(name)
        }
      case .other: continue
      }
    }
    files.sort()
    subfolders.sort()
  }

  public func contains(_ file: String) -> Bool { files.contains(file) }

  /// The first `limit` bytes of a file of this folder; empty when it cannot be read.
  public func head(of file: String, limit: Int = 65_536) -> [UInt8] {
    guard let mapped = try? MappedFile(folder.appending(file)) else { return [] }
    return mapped.withBytes(in: 0..<limit) { bytes in
      bytes.withUnsafeBytes { Array($0) }
    }
  }
}
