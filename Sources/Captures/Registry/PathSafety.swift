import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Paths written inside a capture are never followed out of it.
public enum PathSafety {
  /// Whether `path`, after all symbolic links, lies inside `folder` (after its own links). `false`
  /// when either does not exist.
  public static func resolves(_ path: FilePath, inside folder: FilePath) -> Bool {
    guard let target = resolved(path), let root = resolved(folder) else { return false }
    return target.starts(with: root)
  }

  /// The path without symbolic links, or `nil` when it does not exist.
  public static func resolved(_ path: FilePath) -> FilePath? {
    guard let real = path.withPlatformString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return FilePath(platformString: real)
  }
}
