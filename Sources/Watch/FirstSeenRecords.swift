import Captures
import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// `DIR/.scanmill/looks.json`: when places that are not done were first seen as they are, on the clock of
/// this boot, so that a watcher that was started again, or `--once` from a timer, need not wait anew.
struct FirstSeenRecords: Codable, Hashable {
  struct Look: Codable, Hashable {
    var path: String
    var stem: String?
    var digest: Digest
    /// On the monotonic clock.
    var seconds: Double
    var text: String
  }

  static let fileName = OutputNames.firstSeen

  var schema = 1
  /// Seconds of another boot mean nothing.
  var boot: String
  var looks: [Look]

  init(_ entries: some Sequence<StagingEntry>) {
    boot = ProcessHome.bootID
    looks = entries.compactMap { entry in
      switch entry.phase {
      case .done, .running: return nil
      default:
        return Look(
          path: entry.location.folder.text,
          stem: entry.location.stem,
          digest: entry.stamp.digest, seconds: entry.sinceSeconds, text: entry.since)
      }
    }.sorted { ($0.path, $0.stem ?? "") < ($1.path, $1.stem ?? "") }
  }

  /// Those of this boot; empty where there are none.
  static func known(inOutput root: FilePath, nowSeconds: Double) -> [CaptureLocation: Look] {
    guard let records = NotesFile.read(FirstSeenRecords.self, fileName, ofOutput: root),
      records.schema == 1, !records.boot.isEmpty, records.boot == ProcessHome.bootID
    else { return [:] }
    return Dictionary(
      records.looks.filter { $0.seconds <= nowSeconds }.map {
        (CaptureLocation(folder: FilePath(text: $0.path), stem: $0.stem), $0)
      }
    ) { first, _ in first }
  }
}
