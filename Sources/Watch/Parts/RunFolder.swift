import Engine
import Core
import SystemPackage

/// The folder of a run, as far as cleaning has to know it.
struct RunFolder {
  let id: RunID
  let held: HeldFolder

  /// Fails if the name is not that of a run's folder: another name, a link, a file.
  init?(_ name: String, in runs: HeldFolder) {
    guard let id = RunID(name), let held = try? runs.folder(name) else {
      return nil
    }
    self.id = id
    self.held = held
  }

  private func entry(_ name: String, _ kind: FileStatus.Kind) -> FileStatus? {
    (try? held.entry(name)).flatMap { $0.kind == kind ? $0 : nil }
  }

  /// Whether there is something to remove.
  var hasJournal: Bool {
    entry(OutputNames.events, .file) != nil || entry(OutputNames.logs, .folder) != nil
  }

  /// When it was made or last written to, whichever is later. A file that was copied counts as new.
  var youngestNanoseconds: Int64 {
    let files = [OutputNames.events, OutputNames.run].compactMap { entry($0, .file) }
    let times = (files + [entry(OutputNames.logs, .folder)].compactMap { $0 }).map(
      \.modifiedNanoseconds)
    return (times + [id.madeNanoseconds ?? Int64.max]).max() ?? Int64.max
  }

  private var readRecord: RunFile? {
    (try? held.contents(of: OutputNames.run)).flatMap { try? RunFile($0) }
  }

  /// Whether its process may still be at it.
  func mayGoOn(secondsSinceChange seconds: Int64) -> Bool {
    if readRecord?.finished != nil { return false }
    return id.mayGoOn(secondsSinceChange: seconds)
  }

  /// The captures that it worked on, and whether each was done by it. Of a run that was killed, what its
  /// events and the names of its logs tell. Throws when those cannot be listed.
  func captures() throws(FileError) -> [String: Bool] {
    let record = readRecord
    var captures: [String: Bool] = [:]
    if record?.finished == nil {
      for name in try held.folder(OutputNames.logs)?.names() ?? [] { captures[name] = false }
      readEvents { captures[$0] = $1 }
    }
    // A skipped capture was not worked on. Of several reports the last one counts.
    for capture in record?.captures ?? [] where capture.outcome != .skipped {
      captures[capture.id] = capture.hasSucceeded
    }
    return captures
  }

  private func readEvents(_ body: (String, Bool) -> Void) {
    guard let file = try? held.openFile(OutputNames.events) else { return }
    defer { try? file.close() }
    RunEventReader.read(file, of: [.captureStarted, .captureFinished]) { event in
      guard let capture = event.capture else { return }
      if event.kind == .captureStarted {
        body(capture, false)
      } else if event.message != RunOutcome.skipped.rawValue {
        let outcome = event.message.flatMap(RunOutcome.init(rawValue:))
        body(capture, outcome?.isDone == true || outcome == .notPossible)
      }
    }
  }

  /// Files that the run has written and that may go; the events last, so that a kill in between leaves
  /// a run that is found again.
  private func journalFiles() throws(FileError) -> [(
    folder: HeldFolder, name: String, bytes: Int64
  )] {
    var files: [(HeldFolder, String, Int64)] = []
    if let logs = try? held.folder(OutputNames.logs) {
      for capture in try logs.names() {
        guard let folder = try? logs.folder(capture) else { continue }
        for name in try folder.names() where name.hasSuffix(".log") {
          guard let found = try folder.entry(name), found.kind == .file else { continue }
          files.append((folder, name, found.bytes))
        }
      }
    }
    if let cluster = try? held.folder(OutputNames.cluster) {
      try gather(cluster, levels: 2, &files)
    }
    if let events = entry(OutputNames.events, .file) {
      files.append((held, OutputNames.events, events.bytes))
    }
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
    if let cluster = try? held.folder(OutputNames.cluster) {
      try removeEmpty(cluster, levels: 1)
      held.removeIfEmpty(OutputNames.cluster)
    }
    guard let logs = try? held.folder(OutputNames.logs) else { return }
    for name in try logs.names() { logs.removeIfEmpty(name) }
    held.removeIfEmpty(OutputNames.logs)
  }
}
