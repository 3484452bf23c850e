import FoundationEssentials
import Storage
import SystemPackage

/// What a folder holds, one level deep.
public struct FolderListing: Sendable {
  public var folder: FilePath
  /// Names of regular files (links to files inside the folder included), sorted by name.
  public var files: [String]
  /// Names of subfolders, sorted by name.
  public var subfolders: [String]

  /// Lists `folder`. Links that lead outside of it are left out. Cost: one directory read and one
  /// look at each entry.
  public init(of folder: FilePath) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
    } catch {
      throw FileError(
        kind: .notFound, path: folder, operation: "list", reason: "not a readable folder")
    }
    for name in names.sorted() {
      let path = folder.appending(name)
      if (try? FileIdentity(of: path)) != nil {
        if PathSafety.resolves(path, inside: folder) { files.append(name) }
      } else {
        var isFolder = false
        if FileManager.default.fileExists(atPath: path.string, isDirectory: &isFolder), isFolder {
          subfolders.append(name)
        }
      }
    }
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
