import Storage
import Synchronization
import SystemPackage

/// What a folder holds, one level deep. Names are text as `PathText` carries them.
public struct FolderListing: Sendable {
  public var folder: FilePath
  /// Names of regular files (links to files inside the capture included), sorted by name.
  public var files: [String]
  /// Names of subfolders (links to folders inside the capture included), sorted by name.
  public var subfolders: [String]
  /// Names of all links to folders, wherever they lead.
  public var linkedFolders: [String]
  /// Names of links to files and folders outside of the capture, sorted by name: told, never followed.
  public var outside: [String]
  /// Names of what is neither a file nor a folder (pipes, devices, sockets) and of links that lead nowhere:
  /// a circle, a place that may not be looked at, nothing. In the order of the file system.
  public var others: [String]
  /// What links may lead to: `folder`, or the capture's folder above it, without links.
  private let root: FilePath
  private let troubles = Troubles()

  /// Lists `folder`. Throws why it cannot be read. Cost: one directory read, and a few looks at each link.
  ///
  /// - Parameter capture: the folder that links must not lead out of, if it is not `folder` itself.
  ///   A folder that itself lies outside of it is refused before it is opened.
  public init(of folder: FilePath, inside capture: FilePath? = nil) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    linkedFolders = []
    outside = []
    others = []
    root = PathSafety.resolved(capture ?? folder) ?? (capture ?? folder)
    if capture != nil, !PathSafety.resolves(folder, inside: root) {
      throw FileError(
        kind: .notFound, path: folder, operation: "list", reason: "it leads out of the capture")
    }
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
        let isFile = open.stamp(of: name) != nil
        guard isFile || FileSystem.isFolder(path) else {
          others.append(name)
          continue
        }
        if !isFile { linkedFolders.append(name) }
        if !PathSafety.resolves(path, inside: root) {
          outside.append(name)
        } else if isFile {
          files.append(name)
        } else {
          subfolders.append(name)
        }
      case .other: others.append(name)
      }
    }
    files.sort()
    subfolders.sort()
    linkedFolders.sort()
    outside.sort()
  }

  /// Whether a file is listed. Cost: a search among sorted names, of which a shelf has many.
  public func contains(_ file: String) -> Bool {
    var range = files.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if files[middle] == file { return true }
      range = files[middle] < file ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }

  /// The path of an entry.
  public func path(of name: String) -> FilePath { folder.appending(name: name) }

  /// A file of this folder, for a look at what it is; `nil` when it is not listed, and when it cannot be
  /// read, which is remembered in `unreadable`.
  ///
  /// Read, not mapped: who recognizes captures must not be at the mercy of who writes them.
  public func file(_ name: String) -> InputFile? {
    guard contains(name) else { return nil }
    do throws(FileError) {
      return try InputFile(path(of: name), inside: root)
    } catch {
      troubles.add(error)
      return nil
    }
  }

  /// The first `limit` bytes of a file that is listed; empty for any other, and when it cannot be
  /// read.
  public func head(of name: String, limit: Int = 65_536) -> [UInt8] {
    guard let file = file(name) else { return [] }
    do throws(FileError) {
      return try file.head(limit)
    } catch {
      troubles.add(error)
      return []
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
