import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Checks that paths written inside a capture stay inside it.
public enum PathSafety {
  /// The path without symbolic links; `nil` when it does not exist.
  public static func resolved(_ path: FilePath) -> FilePath? { try? resolve(path) }

  /// The path without symbolic links. Throws when it does not exist, is not permitted, or is a link
  /// loop.
  static func resolve(_ path: FilePath) throws(FileError) -> FilePath {
    guard let real = path.withPlatformString({ realpath($0, nil) }) else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "look at")
    }
    defer { free(real) }
    return FilePath(platformString: real)
  }

  /// The path without symbolic links as far as it exists, with the rest unchanged: for paths that
  /// will be created.
  public static func resolvedAsFarAsPossible(_ path: FilePath) -> FilePath {
    guard let whole = try? FileSystem.absolute(path) else { return path }
    var present = whole
    var rest: [FilePath.Component] = []
    while true {
      if let real = resolved(present) {
        return rest.reversed().reduce(real) { $0.appending($1) }.lexicallyNormalized()
      }
      guard let last = present.lastComponent, present.removeLastComponent() else { return whole }
      rest.append(last)
    }
  }
}
