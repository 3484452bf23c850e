import Captures
import Core
import SystemPackage

/// The files of a capture by what is in them, wherever they lie: for those who must know whether a capture
/// whose files have other times or inodes is the same as before.
enum InputContents {
  /// Files up to this size are read rather than left unknown.
  private static let mostBytesRead: Int64 = 1 << 20

  /// Names, sizes and contents in one digest. `nil` where nothing is there, where a file lies outside of the
  /// capture, and where a file cannot be told without being read and is not to be.
  ///
  /// Digests that a run noted count while their files bear the same stamps.
  ///
  /// - Parameter readsAll: whether files of any size are read.
  ///
  /// Cost: one system call per file; with `readsAll` reading all files whose digest is not noted.
  static func digest(
    folder: String, stem: String?, notedIn layout: OutputLayout, readsAll: Bool
  ) -> Digest? {
    InputListing(folder: folder, stem: stem, nowNanoseconds: .max).flatMap {
      digest(of: $0, known: [:], notedIn: layout, readsAll: readsAll)
    }
  }

  /// Digest of files that were listed a moment ago.
  ///
  /// - Parameter known: digests that a run noted; a small file that is not among them is read rather than looked for
  ///   in the notes.
  static func digest(
    of listing: InputListing, known: [String: DigestCache.Entry], notedIn layout: OutputLayout,
    readsAll: Bool
  ) -> Digest? {
    guard !listing.entries.isEmpty else { return nil }
    let place = FilePath(text: listing.folder)
    let noted = DigestCache(layout.digestCache, capture: place)
    let unread = DigestCache(layout.digestCache, capture: place, isRead: false)
    func digest(_ path: String, _ stamp: FileStamp) -> Digest? {
      let isSmall = stamp.bytes <= mostBytesRead
      if let entry = known[path], entry.stamp == stamp { return entry.sha256 }
      if isSmall, !known.isEmpty { return try? unread.digest(of: path) }
      return noted.noted(path, stamp) ?? (readsAll || isSmall ? try? noted.digest(of: path) : nil)
    }
    var coder = CacheCoder()
    for entry in listing.entries {
      guard !entry.name.hasPrefix("/") else { return nil }
      guard let digest = digest(listing.path(of: entry), entry.stamp) else { return nil }
      coder.put(entry.name)
      coder.put(entry.stamp.bytes)
      coder.put(digest.hex)
    }
    return Digest(of: coder.bytes)
  }
}
