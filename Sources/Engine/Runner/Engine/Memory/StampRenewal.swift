import Core
import SystemPackage

/// Notes the stamps that the files of a capture bear now, where their content is known to be the same: after a change
/// of owner or mode, or when a backup was restored.
struct StampRenewal {
  private let layout: OutputLayout

  init(_ layout: OutputLayout) { self.layout = layout }

  /// Failing to is no harm: the files are read again the next time. So is a file that changed a moment ago.
  func renew(nowNanoseconds: Int64) {
    guard let notes = layout.openNotes(),
      let lock = (try? FileLock(in: notes, holder: "scanmill watch", keepWaiting: { _ in false }))
        .flatMap(\.self),
      let before = notes.stamp(of: layout.captureCacheName), var cache = CaptureCache(of: layout),
      let inputs = cache.inputs.renewed(nowNanoseconds: nowNanoseconds), inputs.isSettled,
      cache.inputs.looksLike(inputs)
    else { return }
    defer { withExtendedLifetime(lock) {} }
    let index = RecordIndex(in: notes, layout, cacheStamp: before, pool: ParameterPool())
    let renewed = stamps(cache.inputs, inputs)
    cache.inputs = inputs
    guard let bytes = try? JSONText.pretty(cache),
      (try? notes.replace(layout.captureCacheName, with: bytes)) != nil,
      var index, let after = notes.stamp(of: layout.captureCacheName)
    else { return }
    index.core.inputs = inputs
    for (path, entry) in index.digests {
      guard let (old, new) = renewed[path], entry.stamp == old else { continue }
      // Also of files that no stage of this pipeline reads: another one may.
      var same = entry
      same.stamp = new
      let isSame = (try? Digest(ofFileAt: FilePath(text: path))) == entry.sha256
      index.digests[path] = isSame ? same : nil
    }
    if let bytes = try? index.encoded(cacheStamp: after) {
      try? notes.replace(layout.indexName, with: bytes, durably: false)
    }
  }

  /// Old and new stamps by whole path.
  private func stamps(
    _ before: InputListing, _ after: InputListing
  ) -> [String: (FileStamp, FileStamp)] {
    let new = after.stamps
    return before.stamps.reduce(into: [:]) { all, file in
      if let stamp = new[file.key] { all[file.key] = (file.value, stamp) }
    }
  }
}
