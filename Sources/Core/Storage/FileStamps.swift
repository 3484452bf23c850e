import SystemPackage

/// The stamps of many files, one after the other. The folders that they lie in stay open as long as
/// it exists, so that their paths are resolved once and not once per file.
///
/// Every stamp is what `FileStamp(of:)` would give. Not kept longer than one pass over the files
/// takes: a folder that takes the place of an open one is not noticed. Cost: one system call per
/// file, five for a link or a file that is absent; one descriptor per folder, at most 16.
public struct FileStamps {
  /// By path, as text (`PathText`); `nil` for one that cannot be opened.
  private var folders: [String: HeldFolder?] = [:]
  private static let mostFolders = 16

  public init() {}

  /// The stamp of a path as text (`PathText`). Links are followed as far as `EnclosedPaths` allows;
  /// `nil` unless the target is a regular file.
  public mutating func stamp(of path: String) -> FileStamp? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
      return FileStamp(of: path)
    }
    let name = String(path[path.utf8.index(after: slash)...])
    return folder(String(path[..<slash]))?.stamp(of: name) ?? FileStamp(of: path)
  }

  private mutating func folder(_ path: String) -> HeldFolder? {
    if let known = folders[path] { return known }
    if folders.count >= Self.mostFolders { folders = [:] }
    let opened = HeldFolder(FilePath(text: path))
    folders[path] = .some(opened)
    return opened
  }
}
