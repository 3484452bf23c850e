import Core
import Engine
import SystemPackage

/// Unfinished runs of other supervisors on the same output. Captures that their array tasks still
/// work on are left to them: this run waits for these, and takes over those that were released.
final class ConcurrentRuns {
  /// One unfinished run.
  struct Run {
    let files: RunFiles
    let plan: ClusterPlan
    /// Array tasks that may be at work, by number.
    var elements: [Int: LiveElement] = [:]
    let reader: ResultReader
    /// Whether a process holds the run's supervisor lock.
    var isSupervised: Bool
    /// Capture lines that were written after this process began to read.
    var lines: [String: CaptureLine] = [:]
  }

  private let context: ClusterContext
  private var runs: [Run] = []
  /// Names of captures that this run waits for.
  var held: Set<String> = []

  /// None before `find`.
  init(_ context: ClusterContext) { self.context = context }

  /// IDs of the arrays of all runs.
  var jobs: [String] {
    Set(runs.flatMap { $0.elements.values.compactMap { $0.task?.job } }).sorted()
  }

  /// Finds other runs on the output; the batch system is searched by name, once for each submission whose acceptance
  /// is unknown. Returns those of `names` that they still work on.
  func find(among names: Set<String>) throws(FileError) -> Set<String> {
    let mark = DeviceErrors.mark
    for files in try RunFiles.all(in: context.plan.options.output)
    where files.id != context.plan.run {
      guard files.isUnfinished, let run = try Run(files, context.system) else {
        // What another run works on stays unknown.
        if let failed = DeviceErrors.since(mark, at: files.folder).first { throw failed }
        continue
      }
      runs.append(run)
    }
    return names.intersection(working)
  }

  /// All captures in the plans of other unfinished runs.
  static func planned(
    in root: FilePath, except own: String
  ) throws(FileError) -> Set<String> {
    try RunFiles.all(in: root).filter { $0.id != own && $0.isUnfinished }
      .reduce(into: []) { $0.formUnion($1.plan?.work ?? []) }
  }

  /// All captures that any of the runs still works on.
  private var working: Set<String> {
    runs.reduce(into: []) { names, run in names.formUnion(run.working) }
  }

  /// The run that works on a capture, for messages.
  func holder(of capture: String) -> String {
    for run in runs where run.working.contains(capture) {
      let task = run.elements.values.first { element in
        element.captures.contains { $0.name == capture }
      }?.task
      return "run \(run.plan.run)" + (task.map { " (job \($0.text))" } ?? "")
    }
    return "another run"
  }

  /// Reads new results of all runs.
  private func hear(atSeconds now: Double) {
    for index in runs.indices {
      let wanted = Set(runs[index].elements.keys)
      for entry in runs[index].reader.read(where: { wanted.contains($0) }) {
        runs[index].elements[entry.element]?.hear(entry.line, atSeconds: now)
        if case .capture(let line) = entry.line { runs[index].lines[line.name] = line }
      }
      runs[index].isSupervised = FileLock.isHeld(at: runs[index].files.lock)
    }
  }

  /// Takes new states from the batch system, drops array tasks that have ended, and closes runs of
  /// which nothing is left.
  func see(_ table: TaskTable, atSeconds now: Double) {
    // Dropped array tasks are not read any more, so their last lines are read first.
    hear(atSeconds: now)
    for index in runs.indices {
      for (number, element) in runs[index].elements {
        guard let task = element.task else { continue }
        runs[index].elements[number]?.see(table[task], isQueue: table.isQueue, atSeconds: now)
      }
      runs[index].dropOver(atSeconds: now)
      if !runs[index].isSupervised, runs[index].elements.isEmpty { runs[index].files.close() }
    }
  }

  /// The captures released since the last call, which are no longer waited for: results of those that the other run
  /// processed in the same way, in alphabetical order, and indices of the others, which still need processing.
  func release(atSeconds now: Double) -> (lines: [CaptureLine], fresh: [Int]) {
    guard !held.isEmpty else { return ([], []) }
    hear(atSeconds: now)
    let working = working
    let names = held.subtracting(working)
    held.formIntersection(working)
    var (lines, fresh): ([CaptureLine], [Int]) = ([], [])
    for name in names.sorted() {
      let line = runs.lazy.filter { [key = context.plan.key] in $0.plan.key == key }
        .compactMap { $0.lines[name] }.first
      if let line, !line.outcome.isLocked, line.outcome.report.outcome != .interrupted {
        lines.append(line)
      } else if let index = context.indices[name] {
        fresh.append(index)
      }
    }
    return (lines, fresh)
  }
}

extension ConcurrentRuns.Run {
  /// `nil` if no array task may be at work and no process holds the supervisor lock. Closes such a
  /// run.
  init?(_ files: RunFiles, _ system: SlurmSystem) throws(FileError) {
    guard let plan = files.plan else { return nil }
    self.files = files
    self.plan = plan
    reader = ResultReader(files)
    isSupervised = FileLock.isHeld(at: files.lock)
    let folder = try HeldFolder.following(files.folder)
    let tasks = Self.tasks(try SubmissionLog.read(in: folder), system)
    let decided = DecisionLog.read(files)
    for (number, task) in tasks {
      guard let order = try files.order(number) else { continue }
      let captures = order.captures.filter { decided[$0.name] == nil }
      if captures.isEmpty { continue }
      var element = LiveElement(number: number, request: order.request, captures: captures)
      element.task = task
      elements[number] = element
    }
    // Earlier lines only determine the state of the array tasks; they are not new results.
    for entry in reader.read(where: { tasks[$0] != nil }) {
      elements[entry.element]?.hear(entry.line, atSeconds: 0)
    }
    elements = elements.filter { $0.value.end == nil }
    if elements.isEmpty, !isSupervised {
      files.close()
      return nil
    }
  }

  /// The submitted array tasks, by number. If it is unknown whether a submission was accepted, the
  /// batch system is searched for its name.
  static func tasks(
    _ history: SubmissionHistory, _ system: SlurmSystem
  ) -> [Int: TaskID] {
    history.tasks { entry in
      if case .intended = entry.state,
        case .known(let jobs) = system.jobs(named: entry.submission.name)
      {
        return jobs.first
      }
      return entry.job
    }
  }

  /// Captures that the run still works on. If the run is supervised these are all captures without
  /// a decision; otherwise those of array tasks that may be at work.
  var working: Set<String> {
    var names: Set<String> = []
    for element in elements.values {
      names.formUnion(element.captures.map(\.name).filter { element.lines[$0] == nil })
    }
    guard isSupervised else { return names }
    let decided = DecisionLog.read(files)
    return names.union(plan.work.filter { decided[$0] == nil })
  }

  /// Drops array tasks that have ended according to themselves or the batch system, and those that
  /// have been missing in the queue for `goneSeconds`.
  mutating func dropOver(atSeconds now: Double) {
    elements = elements.filter { _, element in
      if element.task == nil || element.end != nil { return false }
      if let gone = element.goneSeconds, now - gone >= TaskOutcomeRule.goneSeconds { return false }
      return element.view?.state.isLive ?? true
    }
  }
}

/// How captures of a run ended: `decided.jsonl`. A process that continues the run need not decide
/// again.
final class DecisionLog {
  struct Line: Codable {
    var name: String
    var outcome: CaptureOutcome
  }

  static let name = "decided.jsonl"
  private let lines: LineWriter

  init(_ files: RunFiles) throws(FileError) {
    lines = LineWriter(try HeldFolder.following(files.folder).append(to: Self.name))
  }

  deinit { lines.close() }

  /// Write errors are ignored: the next process then decides again.
  func append(_ name: String, _ outcome: CaptureOutcome) {
    lines.send(Line(name: name, outcome: outcome))
  }

  static func read(_ files: RunFiles) -> [String: CaptureOutcome] {
    guard
      let bytes = try? HeldFolder.following(files.folder).contents(of: name, limit: 1 << 30)
    else { return [:] }
    var decided: [String: CaptureOutcome] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      if let decision = try? Line(json: line) { decided[decision.name] = decision.outcome }
    }
    return decided
  }
}

extension ActiveRun {
  /// The unfinished runs of an output. For all of them together, the batch system is asked at most
  /// once for states and once for waiting reasons, and not at all if there are none. States that it
  /// does not report are derived from the results alone. Changes nothing.
  ///
  /// - Parameter makeSystem: receives a run's folder and the profile that the run was started with.
  public static func all(
    in root: FilePath, makeSystem: (FilePath, ClusterProfile) -> SlurmSystem
  ) throws(FileError) -> [ActiveRun] {
    var found:
      [(
        run: ActiveRun, files: RunFiles, tasks: [Int: TaskID], followers: [String],
        begun: Set<Int>, over: Set<Int>
      )] = []
    var system: SlurmSystem?
    for files in try RunFiles.all(in: root) where files.isUnfinished {
      guard let plan = files.plan, let folder = try? HeldFolder.following(files.folder),
        let history = try? SubmissionLog.read(in: folder)
      else { continue }
      system = system ?? makeSystem(files.run, plan.profile)
      var active = ActiveRun(run: files.id)
      active.isDetached = plan.isDetached
      let tasks = history.tasks(\.job)
      var begun: Set<Int> = []
      var over: Set<Int> = []
      for entry in ResultReader(files).read(where: { tasks[$0] != nil }) {
        if case .begin = entry.line { begun.insert(entry.element) }
        if case .end = entry.line { over.insert(entry.element) }
      }
      active.elements = tasks.count
      // Follow-up jobs, which continue the run.
      let followers = history.entries.filter { $0.submission.count == 0 }.compactMap(\.job)
      found.append((active, files, tasks, followers, begun, over))
    }
    guard let system, !found.isEmpty else { return [] }
    let jobs = Set(found.flatMap { $0.tasks.values.map(\.job) + $0.followers }).sorted()
    var told: TaskTable?
    if case .known(let known) = system.tasks(of: jobs) { told = known }
    var table = TaskTable(isQueue: false)
    let isAnyWaiting = found.contains { run in
      run.tasks.keys.contains { !run.begun.contains($0) && !run.over.contains($0) }
    }
    if isAnyWaiting, case .known(let known) = system.waitingReasons(of: jobs) { table = known }
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
          active.reason = active.reason ?? table[task]?.reason.map(TaskView.words(ofReason:))
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
