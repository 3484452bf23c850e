import Captures
import Storage
import SystemPackage

/// The files of a capture by what is in them, wherever they lie: for those who must know whether a capture
/// whose files have other times or inodes is the same as before.
public enum InputContents {
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
  public static func digest(
    folder: String, stem: String?, notedIn layout: OutputLayout, readsAll: Bool
  ) -> Digest? {
    let place = FilePath(text: folder)
    guard let listing = InputListing(folder: folder, stem: stem, nowNanoseconds: .max),
      !listing.entries.isEmpty
    else { return nil }
    let noted = DigestCache(layout.digestCache, capture: place)
    var encoder = CacheEncoder()
    for entry in listing.entries {
      guard !entry.name.hasPrefix("/") else { return nil }
      let path = listing.path(of: entry)
      guard
        let digest = noted.noted(path, entry.stamp)
          ?? (readsAll || entry.stamp.bytes <= mostBytesRead ? try? noted.digest(of: path) : nil)
      else { return nil }
      encoder.put(entry.name)
      encoder.put(entry.stamp.bytes)
      encoder.put(digest)
    }
    return Digest(of: encoder.bytes)
  }
}
