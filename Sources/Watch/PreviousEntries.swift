import Captures
import Engine
import Core
import SystemPackage

/// What the last watcher noted of captures that were not done, as entries of this one: so they are known again at
/// another place.
struct PreviousEntries {
  private var index = IdentityIndex()
  private var known: [CaptureLocation: StagingEntry] = [:]

  /// - Parameters:
  ///   - met: places that are there: what was noted of them is theirs.
  ///   - recorded: what tells places from others, by the notes.
  init(
    _ record: WatchRecord, without met: Set<CaptureLocation>,
    recorded: [CaptureLocation: FirstSeen], nowSeconds: Double
  ) {
    for (number, waiting) in record.waiting.enumerated() {
      let location = CaptureLocation(waiting)
      guard !met.contains(location), let seen = recorded[location] else { continue }
      // Before all that is new, in the order of then.
      var entry = StagingEntry(
        location: location, recognition: nil,
        stamp: FolderSignature(digest: seen.digest, content: seen.identity.content),
        sinceSeconds: nowSeconds, restsFromSeconds: nowSeconds, since: seen.text,
        order: number - record.waiting.count)
      seen.restore(&entry)
      known[location] = entry
      index.add(seen.identity, at: location)
    }
  }

  /// The new captures that earlier entries are, each one once.
  func matches(
    _ new: [(location: CaptureLocation, identity: CaptureIdentity)], nowSeconds: Double,
    nowText: String
  ) -> [CaptureLocation: GoneCaptures.Match] {
    index.matches(new).compactMapValues { match in
      known[match.location].map {
        GoneCaptures.Match(
          gone: GoneCaptures.Gone(entry: $0, sinceSeconds: nowSeconds, since: nowText),
          likeness: match.likeness)
      }
    }
  }
}

extension CaptureLocation {
  init(_ waiting: WatchRecord.Waiting) {
    self.init(FilePath(text: waiting.path), stem: waiting.stem)
  }
}
