import Core
import Synchronization
import SystemPackage

/// SHA-256 of input files, remembered by path and stamp (size, times of modification and change,
/// inode): a file is read for its digest once and not again until it changes.
///
/// A file that changed within the last two seconds before it was digested is not remembered beyond this
/// object: another write may fall on the same tick of the file system's clock and not show.
public final class DigestCache: Sendable {
  package struct Entry: Codable, Hashable {
    var stamp: FileStamp
    package var sha256: Digest
  }

  private struct State {
    var entries: [String: Entry]
    /// Whether the file has been read.
    var isLoaded = false
    /// Paths of entries that are too fresh to be saved.
    var fresh: Set<String> = []
    var isChanged = false
    /// Sizes of the files that were read for what is not saved yet.
    var unsavedBytes: Int64 = 0
  }

  private let file: FilePath
  /// What the user named; below it no link is followed.
  private let root: FilePath
  /// Below it no link that leads out is followed.
  private let capture: FilePath?
  private let state: Mutex<State>
  private let nowNanoseconds: @Sendable () -> Int64
  /// Stamps that files were found to have a moment ago.
  private let unchanged: [String: FileStamp]

  /// What is remembered in `file`; an absent or damaged file is an empty cache. It is read when first
  /// something is asked that `known` does not tell. Files among `unchanged` are not looked at again.
  ///
  /// - Parameter isRead: `false`: nothing is remembered but what is `known`; the file is not read.
  init(
    _ file: FilePath, capture: FilePath? = nil, known: [String: Entry] = [:],
    unchanged: [String: FileStamp] = [:], isRead: Bool = true,
    nowNanoseconds: @escaping @Sendable () -> Int64 = FileStamp.nowNanoseconds
  ) {
    self.file = file
    root = file.removingLastComponent().removingLastComponent().removingLastComponent()
    self.capture = capture
    self.nowNanoseconds = nowNanoseconds
    self.unchanged = unchanged
    state = Mutex(State(entries: known, isLoaded: !isRead))
  }

  /// The digest of the file as it is now.
  public func digest(of path: FilePath) throws(FileError) -> Digest {
    try digest(of: path.text)
  }

  package func digest(of path: String) throws(FileError) -> Digest {
    var stamps = FileStamps()
    return try digest(of: path, &stamps)
  }

  /// The digests of files in the same order. Their folders are opened once.
  package func digests(of paths: [String]) throws(FileError) -> [Digest] {
    var stamps = FileStamps()
    var digests: [Digest] = []
    digests.reserveCapacity(paths.count)
    for path in paths { digests.append(try digest(of: path, &stamps)) }
    return digests
  }

  private func digest(
    of path: String, _ stamps: inout FileStamps
  ) throws(FileError) -> Digest {
    if let stamp = unchanged[path], let known = entry(path, stamp) { return known.sha256 }
    if let capture { EnclosedPaths.enclose(capture, links: .inside) }
    guard let stamp = stamps.stamp(of: path) else {
      let path = FilePath(text: path)
      _ = try FileIdentity(of: path)  // Says why.
      throw FileError(kind: .notFound, path: path, operation: "look at", reason: "no such file")
    }
    if let known = entry(path, stamp) { return known.sha256 }
    let isSettled = stamp.isSettled(nowNanoseconds: nowNanoseconds())
    let digest = try Digest(ofFileAt: FilePath(text: path))
    state.withLock {
      $0.entries[path] = Entry(stamp: stamp, sha256: digest)
      if isSettled {
        $0.fresh.remove(path)
        $0.isChanged = true
        $0.unsavedBytes &+= stamp.bytes
      } else {
        $0.fresh.insert(path)
      }
    }
    return digest
  }

  /// What is remembered of the file with this stamp; nothing is read but the cache itself.
  func noted(_ path: String, _ stamp: FileStamp) -> Digest? { entry(path, stamp)?.sha256 }

  private func entry(_ path: String, _ stamp: FileStamp) -> Entry? {
    state.withLock { state in
      if let known = state.entries[path], known.stamp == stamp { return known }
      if !state.isLoaded {
        state.isLoaded = true
        for (path, entry) in load() where state.entries[path] == nil {
          state.entries[path] = entry
        }
      }
      return state.entries[path].flatMap { $0.stamp == stamp ? $0 : nil }
    }
  }

  /// Bytes of files that were read for digests that `save` would note.
  var unsavedBytes: Int64 { state.withLock { $0.unsavedBytes } }

  /// The entries that may be stored: those of files that were not changed a moment ago.
  var remembered: [String: Entry] {
    state.withLock { state in state.entries.filter { !state.fresh.contains($0.key) } }
  }

  private func load() -> [String: Entry] {
    HeldFolder.contents(of: file, below: root).flatMap {
      try? [String: Entry](json: $0)
    } ?? [:]
  }

  /// Writes the cache back if it learned anything, without files that are gone. Failing to is no harm
  /// and not reported.
  func save(in notes: HeldFolder) {
    let changed = state.withLock { state in
      defer { (state.isChanged, state.unsavedBytes) = (false, 0) }
      return state.isChanged ? state.entries.filter { !state.fresh.contains($0.key) } : nil
    }
    var stamps = FileStamps()
    guard let changed = changed?.filter({ stamps.stamp(of: $0.key) != nil }),
      let bytes = try? JSONText.canonical(changed)
    else { return }
    try? notes.replace(file.lastComponent?.string ?? "", with: bytes)
  }
}
