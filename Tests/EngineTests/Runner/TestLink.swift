import SystemPackage
import Glibc

enum TestLink {
  /// A symbolic link at `path`.
  static func make(_ path: FilePath, to target: FilePath) -> Bool {
    symlink(target.string, path.string) == 0
  }
}
