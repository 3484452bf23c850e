import Storage
import SystemPackage

/// The name of a capture that is a folder.
enum FolderName {
  /// The folder's own name; for `.`, `..` and the root the name in the resolved path.
  static func of(_ folder: FilePath) -> String {
    switch folder.lastComponent?.kind {
    case .regular: folder.name ?? folder.text
    default: PathSafety.resolved(folder)?.name ?? folder.text
    }
  }

  /// The name of the parent folder.
  static func ofParent(of folder: FilePath) -> String {
    var parent = folder
    if folder.lastComponent?.kind == .regular, parent.removeLastComponent(),
      parent.lastComponent?.kind == .regular
    {
      return of(parent)
    }
    let resolved = PathSafety.resolved(folder) ?? folder
    return of(resolved.removingLastComponent())
  }
}
