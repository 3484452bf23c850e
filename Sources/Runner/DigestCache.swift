import FoundationEssentials
import Pipeline
import Storage
import Synchronization
import SystemPackage

/// SHA-256 of input files, remembered by (path, size, modification time, inode): a file is read for its
/// digest once and not again until it changes.
public final class DigestCache: Sendable {
  private struct Entry: Codable {
    var identity: FileIdentity
    var sha256: Digest
  }

  private struct State {
    var entries: [String: Entry]
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
    let digest = try Digest(ofFileAt: path)
    state.withLock {
      $0.entries[path.string] = Entry(identity: identity, sha256: digest)
      $0.isChanged = true
    }
    return digest
  }

  /// Writes the cache back if it learned anything. Failing to is no harm and not reported.
  public func save() {
    let changed = state.withLock { state in
      defer { state.isChanged = false }
      return state.isChanged ? state.entries : nil
    }
    guard let changed, let bytes = try? JSONText.canonical(changed) else { return }
    try? OutputFile.replace(file, with: bytes)
  }
}
