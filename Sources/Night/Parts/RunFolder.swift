import FoundationEssentials
import Pipeline
import Processes
import Runner
import Storage
import SystemPackage

/// The folder of a run, as far as cleaning has to know it.
struct RunFolder {
  static let events = "events.jsonl"
  static let logs = "logs"
  static let record = "run.json"
  /// Orders, results and logs of the elements of a run on a cluster.
  static let cluster = "slurm"

  /// What of `run.json` matters here.
  private struct Record: Decodable {
    struct Capture: Decodable {
      var id: String
      var outcome: String
    }
    var finished: String?
    var captures: [Capture]
  }

  private struct Event: Decodable {
    var kind: String
    var capture: String?
    var message: String?
  }

  let id: RunID
  let held: HeldFolder

  /// `nil` for what is not the folder of a run: another name, a link, a file.
  init?(_ name: String, in runs: HeldFolder) {
    guard let id = RunID(name), let held = (try? runs.folder(name)).flatMap({ $0 }) else {
      return nil
    }
    self.id = id
    self.held = held
  }

  private func entry(_ name: String, _ kind: FileStatus.Kind) -> FileStatus? {
    (try? held.entry(name)).flatMap { $0 }.flatMap { $0.kind == kind ? $0 : nil }
  }

  /// Whether there is something to remove.
  var hasJournal: Bool { entry(Self.events, .file) != nil || entry(Self.logs, .folder) != nil }

  /// When it was made or last written to, whichever is later. A file that was copied counts as new.
  var youngestNanoseconds: Int64 {
    let files = [Self.events, Self.record].compactMap { entry($0, .file) }
    let times = (files + [entry(Self.logs, .folder)].compactMap { $0 }).map(\.modifiedNanoseconds)
    return (times + [id.madeNanoseconds ?? Int64.max]).max() ?? Int64.max
  }

  private var readRecord: Record? {
    (try? held.contents(of: Self.record)).flatMap { $0 }.flatMap {
      try? JSONDecoder().decode(Record.self, from: Data($0))
    }
  }

  /// Whether its process may still be at it. One of another machine, container or boot cannot be asked:
  /// what it has not written to for a day is nobody's work.
  func mayGoOn(secondsSinceChange seconds: Int64) -> Bool {
    if readRecord?.finished != nil { return false }
    return id.isAlive ?? (seconds < 86400)
  }

  /// The captures that it worked on, and whether each was done by it. Of a run that was killed, what its
  /// events and the names of its logs tell.
  func captures() -> [String: Bool] {
    let record = readRecord
    var captures: [String: Bool] = [:]
    if record?.finished == nil {
      for name in (try? held.folder(Self.logs)?.names()) ?? [] { captures[name] = false }
      readEvents { captures[$0] = $1 }
    }
    // What was skipped was not worked on. Of several reports the last one counts.
    for capture in record?.captures ?? [] where capture.outcome != "skipped" {
      captures[capture.id] = capture.outcome == CaptureReport.Outcome.done.rawValue
    }
    return captures
  }

  private func readEvents(_ body: (String, Bool) -> Void) {
    guard let file = (try? held.openFile(Self.events)).flatMap({ $0 }) else { return }
    defer { try? file.close() }
    var lines = LineReader(file)
    let decoder = JSONDecoder()
    while let line = lines.next() {
      guard let event = try? decoder.decode(Event.self, from: Data(line)),
        let capture = event.capture
      else { continue }
      switch event.kind {
      case RunEvent.Kind.captureStarted.rawValue: body(capture, false)
      case RunEvent.Kind.captureFinished.rawValue where event.message != "skipped":
        body(capture, event.message == CaptureReport.Outcome.done.rawValue)
      default: break
      }
    }
  }

  /// Files that the run has written and that may go; the events last, so that a kill in between leaves
  /// a run that is found again.
  private func journalFiles() throws(FileError) -> [(
    folder: HeldFolder, name: String, bytes: Int64
  )] {
    var files: [(HeldFolder, String, Int64)] = []
    if let logs = try? held.folder(Self.logs) {
      for capture in try logs.names() {
        guard let folder = try? logs.folder(capture) else { continue }
        for name in try folder.names() where name.hasSuffix(".log") {
          guard let found = try folder.entry(name), found.kind == .file else { continue }
          files.append((folder, name, found.bytes))
        }
      }
    }
    if let cluster = try? held.folder(Self.cluster) { try gather(cluster, levels: 2, &files) }
    if let events = entry(Self.events, .file) { files.append((held, Self.events, events.bytes)) }
    return files
  }

  /// What a run on a cluster writes, in its folder and those below it.
  private func gather(
    _ folder: HeldFolder, levels: Int, _ files: inout [(HeldFolder, String, Int64)]
  ) throws(FileError) {
    let plain: Set<String> = ["nonce", "probe", "supervisor", "closed"]
    for name in try folder.names() {
      guard let found = try folder.entry(name) else { continue }
      let isOurs =
        [".json", ".jsonl", ".log"].contains(where: name.hasSuffix) || plain.contains(name)
      if found.kind == .file, isOurs { files.append((folder, name, found.bytes)) }
      if found.kind == .folder, levels > 0, let inner = try? folder.folder(name) {
        try gather(inner, levels: levels - 1, &files)
      }
    }
  }

  private func removeEmpty(_ folder: HeldFolder, levels: Int) throws(FileError) {
    for name in try folder.names() {
      if levels > 0, let inner = try? folder.folder(name) {
        try removeEmpty(inner, levels: levels - 1)
      }
      folder.removeIfEmpty(name)
    }
  }

  func journalSize() throws(FileError) -> FolderSize {
    let files = try journalFiles()
    return FolderSize(bytes: files.map(\.bytes).reduce(0, +), files: files.count)
  }

  /// Removes events and logs, and the folders that are empty then.
  func removeJournal() throws(FileError) {
    for file in try journalFiles() { try file.folder.remove(file.name) }
    if let cluster = try? held.folder(Self.cluster) {
      try removeEmpty(cluster, levels: 1)
      held.removeIfEmpty(Self.cluster)
    }
    guard let logs = try? held.folder(Self.logs) else { return }
    for name in try logs.names() { logs.removeIfEmpty(name) }
    held.removeIfEmpty(Self.logs)
  }
}
