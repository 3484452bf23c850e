import Core

/// The files of a capture in one digest of names, sizes and times of modification, for those who remember what they found.
public struct InputStamp: Hashable, Sendable {
  public var digest: Digest
  /// Whether all files had been still for a while: a later change cannot bear the same times.
  var isSettled: Bool

  /// `nil` when there is no such folder, no file of the stem in it, or too much to be remembered.
  ///
  /// Cost: one system call per file.
  init?(folder: String, stem: String?, nowNanoseconds: Int64) {
    guard let listing = InputListing(folder: folder, stem: stem, nowNanoseconds: .max) else {
      return nil
    }
    self.init(listing, nowNanoseconds: nowNanoseconds)
  }

  /// Stamps files that were listed a moment ago.
  init?(_ listing: InputListing, nowNanoseconds: Int64) {
    guard listing.stem == nil || !listing.entries.isEmpty else { return nil }
    var writer = CacheEncoder()
    for entry in listing.entries {
      writer.put(entry.name)
      writer.put(entry.stamp.bytes)
      writer.put(entry.stamp.modifiedNanoseconds)
    }
    digest = Digest(of: writer.bytes)
    isSettled = listing.isSettled(nowNanoseconds: nowNanoseconds)
  }
}
