import Core
import SystemPackage

/// The name of a capture that is a folder.
enum FolderName {
  /// Names of folders that an app or a data set gives to every capture, in lower case with `_` for blanks and
  /// hyphens, and what is put behind the parent's name in their place.
  private static let meaningless = [
    // An export of everything by 3D Scanner App.
    "all_data": "",
    // Record3D's "EXR + JPG".
    "exr_rgbd": "",
    // Polycam's raw data.
    "keyframes": "",
    // A scene of ScanNet++ has other recordings beside this one.
    "iphone": "-iphone",
  ]

  /// The id of a capture that is this folder: its name, or that of the folder around it where its own says nothing.
  static func id(of folder: FilePath) -> String {
    let own = name(of: folder)
    let key = String(own.lowercased().map { " -".contains($0) ? "_" : $0 })
    guard let addition = meaningless[key], let parent = parent(of: folder) else { return own }
    return id(of: parent) + addition
  }

  /// The folder's own name; for `.`, `..` and the root the name in the resolved path.
  static func name(of folder: FilePath) -> String {
    switch folder.lastComponent?.kind {
    case .regular: folder.name ?? folder.text
    default: PathSafety.resolved(folder)?.name ?? folder.text
    }
  }

  /// `nil` for the root and for folders in it.
  private static func parent(of folder: FilePath) -> FilePath? {
    var parent = folder
    if folder.lastComponent?.kind == .regular, parent.removeLastComponent(),
      parent.lastComponent?.kind == .regular
    {
      return parent
    }
    guard var resolved = PathSafety.resolved(folder), resolved.removeLastComponent(),
      resolved.lastComponent != nil
    else { return nil }
    return resolved
  }
}
