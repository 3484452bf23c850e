import Storage
import Synchronization
import SystemPackage

/// What a folder holds, one level deep. Names are text as `PathText` carries them.
public struct FolderListing: Sendable {
  public var folder: FilePath
  /// Names of regular files (links to files inside the folder included), sorted by name.
  public var files: [String]
  /// Names of subfolders (links to folders inside the folder included), sorted by name.
  public var subfolders: [String]
  /// Names of all links to folders, wherever they lead.
  public var linkedFolders: [String]
  private let troubles = Troubles()

  /// Lists `folder`. Links that lead outside of it are left out. Throws why it cannot be read. Cost: one
  /// directory read, and a few looks at each link.
  public init(of folder: FilePath) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    linkedFolders = []
    let open = try OpenFolder(reading: folder)
    let entries: [(name: String, kind: OpenFolder.Kind)]
    do throws(Errno) {
      entries = try open.list()
    } catch {
      throw FileError(error, path: folder, operation: "list")
    }
    for (name, kind) in entries {
      switch kind {
      case .file: files.append(name)
      case .folder: subfolders.append(name)
      case .link:
        let path = folder.appending(name: name)
        let isInside = PathSafety.resolves(path, inside: folder)
        if open.stamp(of: name) != nil {
          if isInside { files.append(name) }
        } else if FileSystem.isFolder(path) {
          linkedFolders.append(name)
          if isInside { subfolders.append(name) }
        }
      case .other: continue
      }
    }
    files.sort()
    subfolders.sort()
    linkedFolders.sort()
  }

  public func contains(_ file: String) -> Bool { files.contains(file) }

  /// The path of an entry.
  public func path(of name: String) -> FilePath { folder.appending(name: name) }

  /// A file of this folder, for a look at what it is; `nil` when it cannot be read, which is remembered
  /// in `unreadable`.
  public func file(_ name: String) -> MappedFile? {
    do throws(FileError) {
      return try MappedFile(path(of: name))
    } catch {
      troubles.add(error)
      return nil
    }
  }

  /// The first `limit` bytes of a file of this folder; empty when it cannot be read.
  public func head(of file: String, limit: Int = 65_536) -> [UInt8] {
    guard let mapped = self.file(file) else { return [] }
    return mapped.withBytes(in: 0..<limit) { bytes in
      bytes.withUnsafeBytes { Array($0) }
    }
  }

  /// Why files that somebody wanted to look into could not be read: a capture may be hidden behind them.
  public var unreadable: [FileError] { troubles.all }

  private final class Troubles: Sendable {
    private let found = Mutex<[FileError]>([])
    var all: [FileError] { found.withLock { $0 } }

    func add(_ error: FileError) {
      found.withLock { known in
        if !known.contains(where: { $0.path == error.path }) { known.append(error) }
      }
    }
  }
}
