import Captures
import FoundationEssentials
import Engine
import Core
import SystemPackage

/// `DIR/.scanmill/looks.json`: when places that are not done were first seen as they are, so that a watcher that was
/// started again, or `--once` from a timer, need not wait anew; and what tells them from others, so that they are
/// known again elsewhere.
struct FirstSeenRecords: Codable, Hashable {
  struct Look: Codable, Hashable {
    var path: String
    var stem: String?
    var digest: Digest
    /// The time on the monotonic clock.
    var seconds: Double
    var text: String
    var incoming: String?
    var content: Digest?
    var files: [UInt64]?
    /// Device and inode of the folder.
    var folder: [UInt64]?
    /// `true` for a capture that is one file.
    var isFile: Bool?
    /// The name of the results that it has: of a capture that is renamed before the next look its files may tell nothing.
    var results: String?
    /// The stem or file name by which it was last seen, where it was renamed while it was at work.
    var seenAs: String?
  }

  var schema = 1
  /// Seconds of another boot mean nothing: the wall clock tells then how long ago it was.
  var boot: String
  var looks: [Look]

  /// An older record was made by a clock that was wrong.
  private static let longestSeconds = 90 * 86_400.0

  init(_ entries: some Sequence<StagingEntry>) {
    boot = ProcessHome.bootID
    looks = entries.compactMap { entry in
      switch entry.phase {
      case .done: return nil
      default:
        let identity = entry.identity
        let isFile = entry.recognition?.isFile == true
        let name = isFile ? entry.location.path.name : entry.location.stem
        return Look(
          path: entry.location.path.text,
          stem: entry.location.stem,
          digest: entry.stamp.digest, seconds: entry.sinceSeconds, text: entry.since,
          incoming: entry.incoming?.progress, content: identity.content,
          files: identity.files, folder: identity.folderID.map { [$0.device, $0.inode] },
          isFile: isFile ? true : nil, results: entry.results,
          seenAs: identity.stem == name ? nil : identity.stem)
      }
    }.sorted { ($0.path, $0.stem ?? "") < ($1.path, $1.stem ?? "") }
  }

  /// What was noted, on the clock of this boot; empty where nothing was.
  ///
  /// - Parameter now: the wall clock, by which places are dated that another boot saw.
  static func known(
    inOutput root: FilePath, nowSeconds: Double, now: Date = .now
  ) -> [CaptureLocation: StagingEntry] {
    guard
      let records = NotesFile.read(FirstSeenRecords.self, OutputNames.firstSeen, ofOutput: root),
      records.schema == 1
    else { return [:] }
    return records.known(boot: ProcessHome.bootID, nowSeconds: nowSeconds, now: now)
  }

  func known(boot: String, nowSeconds: Double, now: Date) -> [CaptureLocation: StagingEntry] {
    let isThisBoot = !boot.isEmpty && boot == self.boot
    var known: [CaptureLocation: StagingEntry] = [:]
    for look in looks {
      // Negative where another boot saw it.
      var seconds = look.seconds
      if !isThisBoot {
        guard let date = MomentText.date(of: look.text) else { continue }
        let age = now.timeIntervalSince(date)
        seconds = nowSeconds - ((0...Self.longestSeconds).contains(age) ? age : 0)
      }
      guard seconds <= nowSeconds else { continue }
      let location = CaptureLocation(FilePath(text: look.path), stem: look.stem)
      var entry = StagingEntry(
        location: location, recognition: nil,
        stamp: FolderSignature(digest: look.digest, content: look.content ?? look.digest),
        sinceSeconds: seconds, restsFromSeconds: isThisBoot ? seconds : nowSeconds,
        since: look.text, order: 0)
      entry.incoming = look.incoming.map { IncomingUpload(progress: $0) }
      entry.earlierResults = look.results
      entry.lastSeen = CaptureIdentity(
        folderID: look.folder.flatMap {
          $0.count == 2 ? FileID(device: $0[0], inode: $0[1]) : nil
        },
        stem: look.seenAs ?? (look.isFile == true ? location.path.name : look.stem),
        content: entry.stamp.content, files: look.files ?? [])
      known[location] = entry
    }
    return known
  }
}
