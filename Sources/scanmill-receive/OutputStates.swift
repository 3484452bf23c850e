import Captures
import Engine
import Receiving
import Core
import Synchronization
import SystemPackage

/// What `watch` tells in its output folder about captures of STAGING. Whose an output is says its owner record, not its
/// name: two folders of STAGING may have names that become one in the output.
final class OutputStates: CaptureStates {
  private let output: FilePath
  /// Without links, as places are recorded.
  private let staging: FilePath
  /// Owners of outputs, by their names, as long as the owner record is the same file.
  private let owners = Mutex<[String: (stamp: FileStamp, place: Place?)]>([:])

  init(_ output: FilePath, staging: FilePath) {
    self.output = output
    self.staging = PathSafety.resolved(staging) ?? staging
  }

  /// A place in STAGING: its folder, and how far what lies there is the whole of it (0: the capture of that folder, 1: one of
  /// several in it, 2: one inside).
  private struct Place {
    var folder: String
    var rank: Int
  }

  func states(of folders: [String]) -> [String: WatchedState] {
    var waiting: [String: (rank: Int, entry: WatchRecord.Waiting)] = [:]
    for entry in WatchRecord(ofOutput: output)?.waiting ?? [] {
      guard let place = place(entry.path, entry.stem) else { continue }
      if waiting[place.folder].map({ place.rank < $0.rank }) ?? true {
        waiting[place.folder] = (place.rank, entry)
      }
    }
    let outputs = outputs()
    var states: [String: WatchedState] = [:]
    for folder in folders {
      let hasReport = outputs[folder].map(hasReport) ?? false
      if let entry = waiting[folder]?.entry {
        states[folder] = WatchedState(
          state: entry.state.rawValue,
          note: entry.failure?.message ?? entry.waitsFor.map { "waits for \($0)" } ?? "",
          hasReport: hasReport)
      } else if hasReport {
        states[folder] = WatchedState(state: "processed", hasReport: true)
      }
    }
    return states
  }

  func report(of folder: String) -> [UInt8]? {
    outputs()[folder].flatMap { name in
      HeldFolder.contents(
        of: output.appending(name: name).appending(Self.report), below: output, limit: 16 << 20)
    }
  }

  private static let report = "report.html"

  private func hasReport(_ name: String) -> Bool {
    HeldFolder(output)?.below(name)?.stamp(of: Self.report) != nil
  }

  private func place(_ path: String, _ stem: String?) -> Place? {
    var rest = FilePath(text: path)
    guard rest.removePrefix(staging), let first = rest.components.first,
      let folder = FilePath(root: nil, [first]).name
    else { return nil }
    let isOwn = stem.map { $0.utf8.elementsEqual(folder.utf8) } ?? true
    return Place(folder: folder, rank: rest.components.count > 1 ? 2 : isOwn ? 0 : 1)
  }

  /// Names of outputs by the folders of STAGING to which they belong. Cost: a look at the owner record of each output,
  /// which is read once.
  private func outputs() -> [String: String] {
    let known = owners.withLock { $0 }
    var current: [String: (stamp: FileStamp, place: Place?)] = [:]
    // What cannot be listed is as it was.
    guard let layouts = try? OutputCatalog.candidates(in: output) else { return Self.names(known) }
    for layout in layouts {
      guard let stamp = FileStamp(of: layout.owner) else { continue }
      current[layout.name] =
        if let old = known[layout.name], old.stamp == stamp { old } else {
          (stamp: stamp, place: OwnerRecord(in: layout).flatMap { place($0.folder, $0.stem) })
        }
    }
    owners.withLock { [current] in $0 = current }
    return Self.names(current)
  }

  private static func names(
    _ owners: [String: (stamp: FileStamp, place: Place?)]
  ) -> [String: String] {
    var found: [String: (rank: Int, name: String)] = [:]
    for (name, entry) in owners.sorted(by: { $0.key < $1.key }) {
      guard let place = entry.place else { continue }
      if found[place.folder].map({ place.rank < $0.rank }) ?? true {
        found[place.folder] = (place.rank, name)
      }
    }
    return found.mapValues(\.name)
  }
}
