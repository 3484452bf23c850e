import Captures
import Output
import Runner
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Names, sizes, times and inodes of files, as one digest: what tells a place at rest from one that is
/// written to. No file is opened, and what a link leads to outside of the folder is not looked at. Device
/// numbers are left out: they change with every mount.
struct FolderSignature: Hashable, Sendable {
  var digest: Digest
  /// A transfer's temporary file lies in it.
  var isTransferring = false
  /// Of its files.
  var bytes: Int64 = 0
  /// Another version of one of its files, kept by a synchronizer.
  var conflict: String?

  /// Beyond this many files or folders in folders nothing further is looked at, as with `InputListing`.
  private static let mostEntries = 200_000
  private static let mostLevels = 6

  /// Everything in a folder; with `stem` only what begins with it, without folders in it. `nil` when the
  /// folder cannot be read.
  init?(of folder: FilePath, stem: String? = nil) {
    var gathering = Gathering(stem: stem.map { Array($0.utf8) })
    guard gathering.gather(folder, isDeep: true) else { return nil }
    self = gathering.stamp
  }

  /// The entries of a folder itself: files with their times, folders by name.
  init?(ofEntriesIn folder: FilePath) {
    var gathering = Gathering(stem: nil)
    guard gathering.gather(folder, isDeep: false) else { return nil }
    self = gathering.stamp
  }

  private struct Gathering {
    let stem: [UInt8]?
    var lines: [String] = []
    var isTransferring = false
    var bytes: Int64 = 0
    var conflict: String?

    /// `false` when the folder cannot be read, or a link has been put in its place or above it.
    mutating func gather(_ folder: FilePath, isDeep: Bool) -> Bool {
      guard let root = try? EnclosedFolder(folder, followsPath: false),
        let open = try? root.folder()
      else { return false }
      gather(open, of: root, prefix: "", level: 0, isDeep: isDeep)
      return true
    }

    private mutating func gather(
      _ open: HeldFolder, of root: EnclosedFolder, prefix: String, level: Int, isDeep: Bool
    ) {
      for (name, kind) in open.entries() {
        if level == 0, let stem, !name.utf8.starts(with: stem),
          !(StagingNames.isTransfer(name) && name.utf8.dropFirst().starts(with: stem))
        {
          continue
        }
        if StagingNames.isBystander(name) { continue }
        if kind != .folder, !isTransferring, StagingNames.isTransfer(name) { isTransferring = true }
        if StagingNames.isConflict(name) { conflict = prefix + name }
        guard lines.count < FolderSignature.mostEntries else { return }
        switch kind {
        case .folder:
          lines.append("\(prefix)\(name)/")
          guard isDeep, level < FolderSignature.mostLevels, let inner = open.below(name)
          else {
            continue
          }
          gather(inner, of: root, prefix: "\(prefix)\(name)/", level: level + 1, isDeep: true)
        case .file, .link:
          let found = kind == .file ? open.stamp(of: name) : root.stamp(of: prefix + name)
          guard let stamp = found else {
            lines.append("\(prefix)\(name)")
            continue
          }
          bytes &+= max(0, stamp.bytes)
          lines.append(
            "\(prefix)\(name)\0\(stamp.bytes) \(stamp.modifiedNanoseconds) "
              + "\(stamp.changedNanoseconds) \(stamp.inode)")
        case .other: continue
        }
      }
    }

    var stamp: FolderSignature {
      var stamp = FolderSignature(digest: Digest(of: lines.sorted().joined(separator: "\n")))
      stamp.isTransferring = isTransferring
      stamp.bytes = bytes
      stamp.conflict = conflict
      return stamp
    }
  }

  private init(digest: Digest) {
    self.digest = digest
  }

  /// For tests.
  init(text: String, isTransferring: Bool = false) {
    self.init(digest: Digest(of: text))
    self.isTransferring = isTransferring
  }
}
