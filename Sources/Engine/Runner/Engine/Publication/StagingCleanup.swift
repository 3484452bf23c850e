import Core
import Glibc
import SystemPackage

/// Heals and removes what killed runs left. Only for the holder of the capture's lock.
///
/// Where locks are not shared, holding ours does not say that no other process works here: what belongs to a
/// run that may be at work is spared until nothing of it has changed for an hour.
struct StagingCleanup {
  let output: CaptureOutput
  /// The id that names of the one who sweeps carry; what it left itself goes. `nil`: none.
  let attempt: String?
  /// Whether the lock was taken a moment ago.
  var isLocked = true

  /// Names in staging that were spared.
  @discardableResult
  func perform() throws(FileError) -> [String] {
    try restoreMovedAside()
    let spared = try sweepStaging()
    try finishRemovals()
    try removeUnfinishedReplacements()
    return spared
  }

  /// What a run that is over has left in staging, by name; the rest is `spared`.
  func leftovers() throws(FileError) -> (leftovers: [String], spared: [String]) {
    guard let staging = try output.existingStaging() else { return ([], []) }
    let now = fileTime
    var (leftovers, spared): ([String], [String]) = ([], [])
    for name in try staging.names() {
      guard let parts = StagingName(name) else { continue }
      let isLeft: Bool
      if parts.run.text == attempt || parts.run.isAlive == false {
        isLeft = true
      } else if parts.run.isAlive == true {
        isLeft = false
      } else {
        isLeft = try !Self.isYoung(name, in: staging, now: now)
      }
      if isLeft { leftovers.append(name) } else { spared.append(name) }
    }
    return (leftovers, spared)
  }

  private func sweepStaging() throws(FileError) -> [String] {
    let (leftovers, spared) = try leftovers()
    if let staging = try output.existingStaging() {
      for name in leftovers { try staging.remove(name) }
      output.folder.removeIfEmpty(OutputNames.staging)
    }
    return spared
  }

  /// A kill between the two renames of a file system that cannot exchange leaves the old artifact in
  /// staging and nothing in place: put it back.
  private func restoreMovedAside() throws(FileError) {
    guard let staging = try output.existingStaging() else { return }
    for name in try staging.names() {
      guard let parts = StagingName(name), parts.kind == .aside,
        try output.folder.entry(parts.stage) == nil
      else { continue }
      do throws(FileError) {
        try staging.renameNew(name, to: output.folder, as: parts.stage)
      } catch {
        // Another process has published a new artifact in this place.
        guard try output.folder.entry(parts.stage) != nil else { throw error }
      }
    }
  }

  /// A record of a removed intermediate whose artifact stands there: built again, or not removed yet by
  /// a kill in between; and one whose files were not all removed.
  private func finishRemovals() throws(FileError) {
    guard let removed = try output.existingRemovedRecords() else { return }
    for name in try removed.names() where name.hasSuffix(".json") {
      let stage = String(name.dropLast(5))
      guard let place = try? output.folder.folder(stage) else { continue }
      if try place.entry(ArtifactRecord.fileName) != nil {
        try removed.remove(name)
      } else if try output.place(stage) == .ours {
        try output.folder.remove(stage)
      }
    }
  }

  /// `.NAME.….new`, written beside a file of ours that it never came to replace.
  private func removeUnfinishedReplacements() throws(FileError) {
    for (folder, name) in try unfinishedReplacements() { try folder.remove(name) }
  }

  func unfinishedReplacements() throws(FileError) -> [(HeldFolder, String)] {
    let now = fileTime
    var found: [(HeldFolder, String)] = []
    let places = [
      (output.folder, [OutputNames.document]),
      (
        output.notes,
        [OutputNames.captureCache, OutputNames.index, OutputNames.digests, OutputNames.owner]
      ),
    ]
    for (folder, known) in places {
      for name in try folder.names() where name.hasPrefix(".") && name.hasSuffix(".new") {
        guard try folder.entry(name)?.kind == .file else { continue }
        let isOld = try !Self.isYoung(name, in: folder, now: now)
        if known.contains(where: { Replacement.isAbandoned(name, of: $0, isOld: isOld) }) {
          found.append((folder, name))
        }
      }
    }
    return found
  }

  /// What was not changed for so long is at work no more. A stage that makes no progress is stopped much earlier.
  private static let secondsOfYouth: Int64 = 3600

  /// Whether anything at or below `name` was changed within the hour; a time in the future counts.
  private static func isYoung(
    _ name: String, in folder: HeldFolder, now: Int64
  ) throws(FileError) -> Bool {
    guard let entry = try folder.entry(name) else { return false }
    let (age, overflow) = now.subtractingReportingOverflow(entry.modifiedNanoseconds)
    if overflow || age < secondsOfYouth * 1_000_000_000 { return true }
    guard entry.kind == .folder, let inner = try folder.folder(name) else { return false }
    for child in try inner.names() where try isYoung(child, in: inner, now: now) { return true }
    return false
  }

  /// The time now as files here are stamped with: servers have clocks of their own, and the lock was
  /// written a moment ago.
  private var fileTime: Int64 {
    let lock = isLocked ? (try? output.notes.entry(OutputNames.lock)) : nil
    return lock?.modifiedNanoseconds ?? FileStamp.nowNanoseconds()
  }
}

extension FileLock {
  /// What the holder of a lock says about itself: "scanmill run ID (process 4711 on lab3)"; of a process in a job of a
  /// batch system "scanmill run ID, node17, job 123_45 (process 4711)".
  static func holderText(_ what: String, job: String? = nil) -> String {
    guard let job else {
      return "scanmill \(what) (process \(getpid()) on \(ProcessHome.hostName))"
    }
    return "scanmill \(what), \(ProcessHome.hostName), \(job) (process \(getpid()))"
  }
}

/// Looks whether another process works on a capture while we hold its lock, which only happens where locks
/// are not shared: on two mounts of one folder, on Lustre with `localflock`, on NFS with `local_lock`.
struct LockWatch {
  let output: CaptureOutput
  /// The id that our own names in staging carry.
  let attempt: String
  let clock: RunClock
  let events: any EventSink
  /// The entries of other runs in staging when the lock was taken.
  private let before: [String: Int64]

  init(
    _ output: CaptureOutput, attempt: String, spared: [String], clock: RunClock,
    events: any EventSink
  ) {
    self.output = output
    self.attempt = attempt
    self.clock = clock
    self.events = events
    let staging = try? output.existingStaging()
    before = Dictionary(
      firstOf: spared.compactMap { name in
        staging.flatMap { try? Self.newest(name, in: $0) }.map { (name, $0) }
      })
  }

  /// Says `locks-not-shared` if it shows: another process has written its name over ours, or what others had in
  /// staging has changed, gone or come since; also where the file system has no locks at all. Cost: a look
  /// at what others have in staging.
  func look(_ lock: FileLock) {
    let why: String
    let place = "the file system of \(output.layout.root)"
    if let who = lock.other ?? changedStaging() {
      why =
        "\(who) works on this capture at the same time; \(place) does not share locks between "
        + "machines or mounts"
    } else if let refusal = lock.refusal {
      why = "\(place) has no locks (\(refusal)), so other runs are not kept out"
    } else {
      return
    }
    events.send(.locksNotShared, clock, capture: output.layout.name) {
      $0.message =
        "locks-not-shared: \(why). Mount it with "
        + "shared locks (Lustre: flock), or run one scanmill at a time"
    }
  }

  private func changedStaging() -> String? {
    guard let staging = try? output.existingStaging() else {
      return before.keys.min()
    }
    guard let names = try? staging.names() else { return nil }
    let others = names.filter {
      StagingName($0).map { $0.run.text != attempt } ?? false
    }
    var now: [String: Int64] = [:]
    for name in others { now[name] = try? Self.newest(name, in: staging) }
    guard now != before else { return nil }
    let changed = Set(now.keys).union(before.keys).filter { now[$0] != before[$0] }
    return changed.min().flatMap { StagingName($0) }.map {
      // The id may be that of an attempt, which has no folder among the runs.
      "another scanmill (\($0.run.text))"
    }
  }

  private static func newest(_ name: String, in folder: HeldFolder) throws -> Int64 {
    guard let entry = try folder.entry(name) else { return 0 }
    guard entry.kind == .folder, let inner = try folder.folder(name) else {
      return entry.modifiedNanoseconds
    }
    return try inner.names().reduce(entry.modifiedNanoseconds) {
      max($0, try newest($1, in: inner))
    }
  }
}

/// Where intermediates of one capture lie while a run with a scratch folder is at work on it:
/// `SCRATCH/scanmill-ATTEMPT/CAPTURE/STAGE`, on a disk of the machine's own, so that a shared disk need not
/// take files that are not kept.
///
/// It has the form of an output and is written in the same steps. What it holds is gone when the capture
/// is done: of each intermediate the record stays in the output, as after every removal.
struct ScratchFolder {
  let output: CaptureOutput

  /// Empty; `nil` without a scratch folder.
  init?(_ options: RunOptions, run: String, capture: String) throws(FileError) {
    guard let root = Self.root(options, run: run) else { return nil }
    Self.clear(options, run: run, capture: capture)
    output = try CaptureOutput(making: OutputLayout(root: root, name: capture))
  }

  /// Whether the artifact of a stage goes there: it is not kept, and no kept artifact takes files of it
  /// over without copying them, as exports do with copies of color.
  static func takes(_ stage: StageDefinition) -> Bool {
    !stage.keep && !stage.isOfSubset && !stage.kind.content(stage.parameters).isCopyOfColor
  }

  /// Removes what is left of a capture. Failing to is left to `end`.
  static func clear(_ options: RunOptions, run: String, capture: String) {
    guard let root = root(options, run: run), FileSystem.isFolder(root) else { return }
    try? HeldFolder.following(root).remove(capture)
  }

  /// Removes all that is left once a run works on no capture any more.
  static func end(_ options: RunOptions, run: String) {
    guard let root = root(options, run: run), FileSystem.isFolder(root),
      let name = root.lastComponent?.string
    else { return }
    try? HeldFolder.following(root.removingLastComponent()).remove(name)
  }

  /// A folder of this attempt alone: whatever lies in it is ours.
  private static func root(_ options: RunOptions, run: String) -> FilePath? {
    options.scratch?.appending("scanmill-\(options.attempt(of: run))")
  }
}
