import Storage
import SystemPackage

/// The name that a folder gives to a capture.
enum FolderName {
  /// The folder's own name; of `.`, `..` and the root the name that the resolved path has.
  static func of(_ folder: FilePath) -> String {
    switch folder.lastComponent?.kind {
    case .regular: folder.name ?? folder.text
    default: PathSafety.resolved(folder)?.name ?? folder.text
    }
  }

  /// The name of the folder above.
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
