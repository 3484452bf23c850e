import Engine
import Core
import SystemPackage

extension ActiveRun {
  private struct Found {
    var run: ActiveRun
    var files: RunFiles
    var tasks: [Int: TaskID]
    /// Follow-up jobs, which continue the run.
    var followers: [String]
    var begun: Set<Int>
    var over: Set<Int>
  }

  /// The unfinished runs of an output. For all of them together, the batch system is asked at most
  /// once for states and once for waiting reasons, and not at all if there are none. States that it
  /// does not report are derived from the results alone. Changes nothing.
  ///
  /// - Parameter makeSystem: receives a run's folder and the profile that the run was started with.
  public static func all(
    in root: FilePath, makeSystem: (FilePath, ClusterProfile) -> SlurmSystem
  ) throws(FileError) -> [ActiveRun] {
    let runs = root.appending(OutputNames.runs)
    var found: [Found] = []
    var system: SlurmSystem?
    for name in try RunReader.ids(in: root) where RunID(name) != nil {
      let files = RunFiles(run: runs.appending(name))
      guard FileSystem.exists(files.submissions), !ConcurrentRuns.isClosed(files),
        let plan = ClusterPlan.read(files), let folder = try? HeldFolder.following(files.folder),
        let history = try? SubmissionLog.read(in: folder)
      else { continue }
      system = system ?? makeSystem(files.run, plan.profile)
      var active = ActiveRun(run: name)
      active.isDetached = plan.isDetached
      let tasks = history.tasks(\.job)
      var begun: Set<Int> = []
      var over: Set<Int> = []
      for entry in ResultReader(files).read(where: { tasks[$0] != nil }) {
        if case .begin = entry.line { begun.insert(entry.element) }
        if case .end = entry.line { over.insert(entry.element) }
      }
      active.elements = tasks.count
      let followers = history.entries.filter { $0.submission.count == 0 }.compactMap(\.job)
      found.append(
        Found(
          run: active, files: files, tasks: tasks, followers: followers, begun: begun, over: over))
    }
    guard let system, !found.isEmpty else { return [] }
    let jobs = Set(found.flatMap { $0.tasks.values.map(\.job) + $0.followers }).sorted()
    var told: TaskTable?
    if case .table(let known) = system.tasks(of: jobs) { told = known }
    var table = TaskTable(isQueue: false)
    let isAnyWaiting = found.contains { run in
      run.tasks.keys.contains { !run.begun.contains($0) && !run.over.contains($0) }
    }
    if isAnyWaiting, case .table(let known) = system.waitingReasons(of: jobs) { table = known }
    return found.map { entry in
      var active = entry.run
      var oldest: Int64?
      for (number, task) in entry.tasks {
        let state = told?[task]?.state
        if entry.over.contains(number) {
          active.ended += 1
        } else if let state, !state.isLive {
          active.ended += 1
        } else if entry.begun.contains(number) {
          // Not in a queue that lists all of its tasks: it has ended.
          if told?.isQueue == true, state == nil { active.ended += 1 } else { active.running += 1 }
        } else {
          active.waiting += 1
          active.reason = active.reason ?? table[task]?.reason.map(WaitingReason.words)
          oldest = oldest ?? RunID(active.run)?.madeNanoseconds
        }
      }
      active.longestWaitSeconds = oldest.map {
        max(0, Double(FileStamp.nowNanoseconds() - $0) / 1e9)
      }
      let isFollowed = entry.followers.contains { job in
        told?[TaskID(job: job, index: nil)]?.state.isLive ?? (told == nil)
      }
      active.isAbandoned =
        active.ended == active.elements && !isFollowed && !FileLock.isHeld(at: entry.files.lock)
      return active
    }
  }
}

extension TaskView.State {
  var isLive: Bool {
    switch self {
    case .pending, .running, .unknown: true
    default: false
    }
  }
}
