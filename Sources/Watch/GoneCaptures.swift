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
  struct Gone {
    var entry: StagingEntry
    /// Since when, on the monotonic clock.
    var sinceSeconds: Double
    /// `sinceSeconds` as text, for people.
    var since: String
  }

  /// A capture that is at another place now.
  struct Match {
    /// The capture as it was at its last place.
    var entry: StagingEntry
    var likeness: CaptureIdentity.Likeness
  }

  private var held: [CaptureLocation: Gone] = [:]
  private let holdSeconds: Double

  init(holdSeconds: Double) { self.holdSeconds = holdSeconds }

  var isEmpty: Bool { held.isEmpty }

  mutating func hold(_ entry: StagingEntry, nowSeconds: Double, nowText: String) {
    held[entry.location] = Gone(entry: entry, sinceSeconds: nowSeconds, since: nowText)
  }

  /// The one that was at this place.
  mutating func take(at location: CaptureLocation) -> Gone? { held.removeValue(forKey: location) }

  /// Captures that are given up now; all of them where there is no next look.
  mutating func takeExpired(nowSeconds: Double, all: Bool = false) -> [Gone] {
    let expired = held.values.filter { all || nowSeconds - $0.sinceSeconds >= holdSeconds }
    for gone in expired { held[gone.entry.location] = nil }
    return expired.sorted { $0.entry.order < $1.entry.order }
  }

  /// The places that new captures had before, each one once. Cost: one pass over both.
  mutating func takeMatches(
    _ new: [(location: CaptureLocation, identity: CaptureIdentity)]
  ) -> [CaptureLocation: Match] {
    guard !held.isEmpty, !new.isEmpty else { return [:] }
    var index = IdentityIndex()
    for gone in held.values.sorted(by: { $0.entry.order < $1.entry.order }) {
      // The inode of a folder that was removed is given to the next one: of what is done files have to tell.
      index.add(
        gone.entry.identity, at: gone.entry.location,
        byFolder: gone.entry.departedState == nil)
    }
    return index.matches(new).compactMapValues { match in
      take(at: match.location).map { Match(entry: $0.entry, likeness: match.likeness) }
    }
  }
}

/// Finds captures by what tells them apart.
struct IdentityIndex {
  /// The earlier places of captures, by their new ones.
  typealias Matches = [CaptureLocation: (
    location: CaptureLocation, likeness: CaptureIdentity.Likeness
  )]

  private struct FolderKey: Hashable {
    var id: FileID
    var stem: String?
  }

  private struct FileKey: Hashable {
    var device: UInt64
    var file: UInt64
  }

  private var contents: [Digest: [CaptureLocation]] = [:]
  private var files: [FileKey: [CaptureLocation]] = [:]
  private var folders: [FolderKey: CaptureLocation] = [:]

  /// - Parameter byFolder: whether the folder alone tells it.
  mutating func add(
    _ identity: CaptureIdentity, at location: CaptureLocation, byFolder: Bool = true
  ) {
    // Without files there is nothing to tell it by.
    if !identity.files.isEmpty { contents[identity.content, default: []].append(location) }
    guard let id = identity.folderID else { return }
    for file in identity.files {
      files[FileKey(device: id.device, file: file), default: []].append(location)
    }
    if byFolder { folders[FolderKey(id: id, stem: identity.stem)] = location }
  }

  /// For each of some captures the one that it is, each one once: the surest matches first.
  func matches(_ new: [(location: CaptureLocation, identity: CaptureIdentity)]) -> Matches {
    var found: Matches = [:]
    var taken: Set<CaptureLocation> = []
    func look(
      _ likeness: CaptureIdentity.Likeness, _ candidates: (CaptureIdentity) -> [CaptureLocation]
    ) {
      for (location, identity) in new where found[location] == nil {
        guard let old = candidates(identity).first(where: { !taken.contains($0) }) else { continue }
        taken.insert(old)
        found[location] = (old, likeness)
      }
    }
    look(.certain) { identity in
      guard let id = identity.folderID else { return [] }
      return identity.files.lazy.compactMap { files[FileKey(device: id.device, file: $0)] }
        .joined().map(\.self)
    }
    look(.certain) { identity in
      identity.files.isEmpty ? [] : contents[identity.content] ?? []
    }
    look(.folder) { identity in
      identity.folderID.flatMap { folders[FolderKey(id: $0, stem: identity.stem)] }.map { [$0] }
        ?? []
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

extension StagingSnapshot.Seen {
  var identity: CaptureIdentity {
    CaptureIdentity(
      folderID: folderID, stem: recognition.isFile ? recognition.path.name : recognition.stem,
      content: stamp.content, files: stamp.files)
  }
}

extension StagingSnapshot.UnrecognizedUpload {
  var identity: CaptureIdentity {
    CaptureIdentity(
      folderID: folderID, stem: folder.isFile ? folder.path.name : nil, content: stamp.content,
      files: stamp.files)
  }
}
