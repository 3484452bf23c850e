import Captures
import Engine
import Core
import SystemPackage

/// What tells a capture at one place from others, to know it again at another one.
struct CaptureIdentity: Hashable {
  /// The id of the capture's folder; inodes count together with its device only.
  var folderID: FileID?
  /// Which capture of the folder it is: its stem, or the name of the file that it is.
  var stem: String?
  var content: Digest
  var files: [UInt64]

  /// How sure it is that two are one capture.
  enum Likeness {
    /// Names, sizes and times of all files are the same, or a file of one is a file of the other.
    case certain
    /// The folder is the same one, its files are others.
    case folder
  }
}

/// Captures that are not where they were, kept for a while: a place that two looks in a row do not show may be a
/// rename that the first look missed.
///
/// Memory: those of the last `holdSeconds`.
struct GoneCaptures {
  /// A capture as it was at its last place, that is at another one now.
  typealias Match = (entry: StagingEntry, likeness: CaptureIdentity.Likeness)

  private var held: [CaptureLocation: StagingEntry] = [:]
  private let holdSeconds: Double

  init(holdSeconds: Double) { self.holdSeconds = holdSeconds }

  mutating func hold(_ entry: StagingEntry, nowSeconds: Double, nowText: String) {
    held[entry.location] = entry
    held[entry.location]?.gone = (nowSeconds, nowText)
  }

  /// The one that was at this place.
  mutating func take(at location: CaptureLocation) -> StagingEntry? {
    held.removeValue(forKey: location)
  }

  /// Captures that are given up now; all of them where there is no next look.
  mutating func takeExpired(nowSeconds: Double, all: Bool = false) -> [StagingEntry] {
    let expired = held.values.filter {
      all || nowSeconds - ($0.gone?.sinceSeconds ?? 0) >= holdSeconds
    }
    for entry in expired { held[entry.location] = nil }
    return expired.sorted { $0.order < $1.order }
  }

  /// The places that new captures had before, each one once. Cost: one pass over both.
  mutating func takeMatches(_ new: [StagingSnapshot.Seen]) -> [CaptureLocation: Match] {
    guard !held.isEmpty, !new.isEmpty else { return [:] }
    var index = IdentityIndex()
    for entry in held.values.sorted(by: { $0.order < $1.order }) {
      // The inode of a folder that was removed is given to the next one: of what is done files have to tell.
      index.add(entry.identity, at: entry.location, byFolder: !entry.leavesRecord)
    }
    return index.matches(new).compactMapValues { match in
      take(at: match.location).map { ($0, match.likeness) }
    }
  }
}

/// Finds captures by what tells them apart.
struct IdentityIndex {
  /// The earlier places of captures, by their new ones.
  typealias Matches = [CaptureLocation: (
    location: CaptureLocation, likeness: CaptureIdentity.Likeness
  )]

  /// A fact that two captures may have in common.
  private enum Clue: Hashable {
    case file(device: UInt64, UInt64)
    case content(Digest)
    case folder(FileID, stem: String?)
  }

  private var places: [Clue: [CaptureLocation]] = [:]

  /// What tells a capture, the surest facts first: its files, their names, sizes and times, its folder.
  private static func clues(of identity: CaptureIdentity) -> [[Clue]] {
    let id = identity.folderID
    return [
      id.map { id in identity.files.map { .file(device: id.device, $0) } } ?? [],
      // Without files there is nothing to tell it by.
      identity.files.isEmpty ? [] : [.content(identity.content)],
      id.map { [.folder($0, stem: identity.stem)] } ?? [],
    ]
  }

  /// - Parameter byFolder: whether the identity of its folder alone is enough to know the capture again.
  mutating func add(
    _ identity: CaptureIdentity, at location: CaptureLocation, byFolder: Bool = true
  ) {
    for clue in Self.clues(of: identity).joined() {
      if case .folder = clue {
        if byFolder { places[clue] = [location] }
      } else {
        places[clue, default: []].append(location)
      }
    }
  }

  /// For each of some captures the one that it is, each one once: the surest matches first.
  func matches(_ new: [StagingSnapshot.Seen]) -> Matches {
    var found: Matches = [:]
    var taken: Set<CaptureLocation> = []
    let clues = new.map { Self.clues(of: $0.identity) }
    for (rank, likeness) in [CaptureIdentity.Likeness.certain, .certain, .folder].enumerated() {
      for (seen, clues) in zip(new, clues) where found[seen.location] == nil {
        let candidates = clues[rank].lazy.flatMap { places[$0] ?? [] }
        guard let old = candidates.first(where: { !taken.contains($0) }) else { continue }
        taken.insert(old)
        found[seen.location] = (old, likeness)
      }
    }
    return found
  }
}

extension StagingEntry {
  /// The facts by which the capture is known at another place.
  var identity: CaptureIdentity {
    if let lastSeen { return lastSeen }
    return CaptureIdentity(
      folderID: folderID,
      stem: recognition?.isFile == true ? location.path.name : location.stem,
      content: stamp.content, files: stamp.files)
  }
}
