import FoundationEssentials
import Pipeline
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// SHA-256 of input files, remembered by (path, size, modification time, inode): a file is read for its
/// digest once and not again until it changes.
///
/// A file that was modified within the last two seconds before it was digested is not remembered beyond
/// this object: another write may fall on the same tick of the file system's clock and not show.
public final class DigestCache: Sendable {
  private struct Entry: Codable {
    var identity: FileIdentity
    var sha256: Digest
  }

  private struct State {
    var entries: [String: Entry]
    /// Paths of entries that are too fresh to be saved.
    var fresh: Set<String> = []
    var isChanged = false
  }

  private let file: FilePath
  private let state: Mutex<State>

  /// Loads what is remembered in `file`; an absent or damaged file is an empty cache.
  public init(_ file: FilePath) {
    self.file = file
    let known = (try? MappedFile(file)).flatMap { mapped in
      mapped.withBytes { bytes in
        bytes.withUnsafeBytes { try? JSONDecoder().decode([String: Entry].self, from: Data($0)) }
      }
    }
    state = Mutex(State(entries: known ?? [:]))
  }

  /// The digest of the file as it is now.
  public func digest(of path: FilePath) throws(FileError) -> Digest {
    let identity = try FileIdentity(of: path)
    if let known = state.withLock({ $0.entries[path.string] }), known.identity == identity {
      return known.sha256
    }
    let isSettled = Self.isSettled(identity)
    let digest = try Digest(ofFileAt: path)
    state.withLock {
      $0.entries[path.string] = Entry(identity: identity, sha256: digest)
      if isSettled { $0.fresh.remove(path.string) } else { $0.fresh.insert(path.string) }
      $0.isChanged = true
    }
    return digest
  }

  private static func isSettled(_ identity: FileIdentity) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let (age, overflow) = (Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
      .subtractingReportingOverflow(identity.modifiedNanoseconds)
    return !overflow && age > 2_000_000_000
  }

  /// Writes the cache back if it learned anything. Failing to is no harm and not reported.
  public func save() {
    let changed = state.withLock { state in
      defer { state.isChanged = false }
      return state.isChanged ? state.entries.filter { !state.fresh.contains($0.key) } : nil
    }
    guard let changed, let bytes = try? JSONText.canonical(changed) else { return }
    try? OutputFile.replace(file, with: bytes)
  }
}
