import Captures
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Where a capture lies: its folder without symbolic links, and its stem where it shares the folder.
struct Place: Hashable, Sendable {
  var folder: FilePath
  var stem: String?

  init(folder: FilePath, stem: String?) {
    self.folder = folder
    self.stem = stem
  }

  init(_ recognition: Recognition) {
    // The finder gives resolved paths; others may not.
    folder = PathSafety.resolved(recognition.folder) ?? recognition.folder
    stem = recognition.stem
  }

  /// By bytes: names that look alike in another composition are two places.
  static func == (a: Place, b: Place) -> Bool {
    a.folder == b.folder && a.stem.map { Array($0.utf8) } == b.stem.map { Array($0.utf8) }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(folder)
    hasher.combine(stem.map { Array($0.utf8) })
  }

  /// Whether `other` is this place under another path: a bind mount, or a link made since.
  func isAlias(of other: Place) -> Bool {
    guard stem.map({ Array($0.utf8) }) == other.stem.map({ Array($0.utf8) }),
      let mine = FolderIdentity(folder)
    else { return false }
    return mine == FolderIdentity(other.folder)
  }

  /// Whether nothing is there any more. A place that cannot be looked at is not gone.
  var isGone: Bool {
    do throws(FileError) {
      let listing = try FolderListing(of: folder)
      guard let stem else { return false }
      return !listing.files.contains { $0.utf8.starts(with: stem.utf8) }
    } catch {
      return error.kind == .notFound
    }
  }
}

/// What tells a folder from others whatever its path.
struct FolderIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init?(_ folder: FilePath) {
    var status = stat()
    guard folder.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
