import Core
import Glibc
import SystemPackage

/// What the holder of a lock says about itself.
enum LockHolder {
  /// "scanmill run ID (process 4711 on lab3)"; of a process in a job of a batch system
  /// "scanmill run ID, node17, job 123_45 (process 4711)".
  static func text(_ what: String, job: String? = nil) -> String {
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
