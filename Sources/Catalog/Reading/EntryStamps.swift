import Night
import Runner
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What an entry was made from, in one digest: the folders and notes of the capture's output, and the files
/// of the capture itself. Equal digests: it would be read the same again, but for files that were
/// overwritten in place inside an artifact.
enum EntryStamps {
  private static let files = [
    "capture.json", ".scanmill/memo.json", ".scanmill/index", ".scanmill/owner.json",
    ".scanmill/\(TriageRecord.fileName)",
  ]

  /// Folders with published files, relative to the output folder of the capture.
  static func folders(of entry: CaptureEntry) -> [String] {
    entry.stages.map(\.stage)
  }

  /// `nil` unless everything had been still for two seconds: a later change could bear the same times.
  static func settledDigest(
    _ layout: OutputLayout, folders: [String], folder: String?, stem: String?, _ now: Int64
  ) -> String? {
    let newest = now &- 2_000_000_000
    return digest(layout, folders: folders, folder: folder, stem: stem, newest: newest)
  }

  /// - Parameter newest: nothing may have changed after this time; `nil`: whenever it changed.
  static func digest(
    _ layout: OutputLayout, folders: [String], folder: String?, stem: String?, newest: Int64?
  ) -> String? {
    guard let open = OpenFolder(layout.folder.text, followsLinks: false) else { return nil }
    var writer = CacheEncoder()
    var isSettled = true
    // What lies behind a link in the place of a folder is not looked at.
    var links: Set<String> = []
    func put(_ path: String) {
      let above = path.split(separator: "/").first.map(String.init) ?? path
      guard !links.contains(above), let stamp = open.entryStamp(of: path) else {
        writer.put(false)
        return
      }
      if stamp.mode & UInt32(S_IFMT) == UInt32(S_IFLNK) { links.insert(path) }
      writer.put(true)
      for number in [
        stamp.bytes, stamp.modifiedNanoseconds, stamp.changedNanoseconds,
        Int64(bitPattern: stamp.inode), Int64(stamp.mode),
      ] {
        writer.put(number)
      }
      if let newest, max(stamp.modifiedNanoseconds, stamp.changedNanoseconds) > newest {
        isSettled = false
      }
    }
    for path in [".", ".scanmill", ".scanmill/removed", ".failed"] + files { put(path) }
    for stage in folders {
      put(stage)
      put("\(stage)/artifact.json")
    }
    if let folder {
      let input = InputStamp(
        folder: folder, stem: stem, nowNanoseconds: newest.map { $0 &+ 2_000_000_000 } ?? .max)
      writer.put(input?.digest.hex)
      if newest != nil, let input, !input.isSettled { isSettled = false }
    }
    return isSettled ? Digest(of: writer.bytes).hex : nil
  }
}

/// What a run's entry was made from.
struct RunStamp: Hashable, Sendable {
  let text: String

  init(_ id: String, in root: FilePath) {
    let folder = OpenFolder(root.text)?.below("runs/\(id)")
    text = ["run.json", "events.jsonl"].map { name in
      folder?.stamp(of: name).map {
        "\($0.bytes) \($0.modifiedNanoseconds) \($0.changedNanoseconds) \($0.inode)"
      } ?? "-"
    }.joined(separator: ",")
  }

  init(text: String) { self.text = text }
}

/// Counts what several threads have done.
final class Counter: Sendable {
  private let done = Mutex(0)
  private let all: Int
  private let progress: @Sendable (Int, Int) -> Void

  init(_ all: Int, _ progress: @escaping @Sendable (Int, Int) -> Void) {
    self.all = all
    self.progress = progress
  }

  func add() {
    let now = done.withLock { count in
      count += 1
      return count
    }
    progress(now, all)
  }
}
