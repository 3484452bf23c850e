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
  /// Names of links to folders inside the capture, sorted by name.
  public var linkedFolders: [String]
  /// Names of links that lead out of the capture, whatever to, sorted by name: told, never followed.
  public var outside: [String]
  /// Names of what is neither a file nor a folder (pipes, devices, sockets) and of links that lead nowhere:
  /// a circle, a place that may not be looked at, nothing. In the order of the file system.
  public var others: [String]
  /// What links may lead around in: `folder`, or the capture's folder above it.
  private let root: EnclosedFolder
  /// The way from `root` to `folder`, with a slash behind it; empty where they are one.
  private let prefix: String
  private let troubles = Troubles()

  /// Lists `folder`. Throws why it cannot be read. Cost: one directory read, and a few looks at each link.
  ///
  /// - Parameters:
  ///   - capture: the folder that links must not lead out of, if it is not `folder` itself but one above it.
  ///     A folder that a link on the way leads out of it is refused before it is opened.
  ///   - isResolved: the path is known to have no links; where it has one now, it is refused.
  public init(
    of folder: FilePath, inside capture: FilePath? = nil, isResolved: Bool = false
  ) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    linkedFolders = []
    outside = []
    others = []
    root = try EnclosedFolder(capture ?? folder, followsPath: !isResolved)
    var rest = folder
    guard rest.removePrefix(root.path) else { throw Self.refusal(folder) }
    prefix = rest.isEmpty ? "" : rest.text + "/"
    let open: HeldFolder
    do throws(FileError) {
      open = try root.folder(rest.isEmpty ? "." : rest.text)
    } catch {
      let leadsOut = error.code == .improperLink || error.code == nil
      throw leadsOut ? Self.refusal(folder) : error
    }
    for (name, kind) in try open.list() {
      switch kind {
      case .file: files.append(name)
      case .folder: subfolders.append(name)
      case .link:
        switch root.look(at: prefix + name) {
        case .file: files.append(name)
        case .folder:
          subfolders.append(name)
          linkedFolders.append(name)
        case .outside: outside.append(name)
        case .other, .forbidden, .nothing: others.append(name)
        }
      case .other: others.append(name)
      }
    }
    files.sort()
    subfolders.sort()
    linkedFolders.sort()
    outside.sort()
  }

  private static func refusal(_ folder: FilePath) -> FileError {
    FileError(
      kind: .notFound, path: folder, operation: "list", reason: "it leads out of the capture")
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
      return try InputFile(prefix + name, in: root)
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
