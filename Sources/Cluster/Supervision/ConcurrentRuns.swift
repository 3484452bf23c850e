import FoundationEssentials
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// Runs of other supervisors on the same output that are not over: what their elements still work on is
/// left to them.
struct ConcurrentRuns {
  /// One of them.
  struct Run {
    let files: RunFiles
    let plan: ClusterPlan
    /// Elements that may be at work, and what they hold.
    var elements: [Int: LiveElement] = [:]
    let reader: ResultReader
    /// Whether another process looks after it at this moment.
    var isSupervised: Bool
    /// Captures whose lines have come since we look.
    var lines: [String: CaptureLine] = [:]
  }

  private(set) var runs: [Run] = []

  /// Ids of their arrays.
  var jobs: [String] {
    Set(runs.flatMap { $0.elements.values.compactMap { $0.task?.job } }).sorted()
  }

  /// Those below an output.
  ///
  /// - Parameters:
  ///   - own: the run that looks.
  ///   - system: asked once for each submission of which nobody knows whether it was taken.
  init(in root: FilePath, except own: String, _ system: any BatchSystem) {
    let runs = root.appending(OutputNames.runs)
    for name in (try? FileSystem.names(in: runs)) ?? [] where name != own && RunID(name) != nil {
      let files = RunFiles(run: runs.appending(name))
      guard FileSystem.exists(files.submissions), !Self.isClosed(files),
        let run = Run(files, system)
      else { continue }
      self.runs.append(run)
    }
  }

  init() {}

  /// All captures in the plans of other runs that are not over.
  static func planned(in root: FilePath, except own: String) -> Set<String> {
    let runs = root.appending(OutputNames.runs)
    var names: Set<String> = []
    for name in (try? FileSystem.names(in: runs)) ?? [] where name != own && RunID(name) != nil {
      let files = RunFiles(run: runs.appending(name))
      guard FileSystem.exists(files.submissions), !isClosed(files),
        let plan = ClusterPlan.read(files)
      else { continue }
      names.formUnion(plan.work)
    }
    return names
  }

  static let closedName = "closed"

  static func isClosed(_ files: RunFiles) -> Bool {
    FileSystem.exists(files.folder.appending(closedName))
  }

  /// Nothing of it is to be looked for any more. Orders and plan that hold secrets go.
  static func close(_ files: RunFiles) {
    guard let folder = try? HeldFolder.following(files.folder) else { return }
    let isSecret = ClusterPlan.read(files)?.holdsSecrets ?? false
    try? folder.replace(closedName, with: [], durably: false)
    guard isSecret else { return }
    for name in [RunFiles.ordersName, RunFiles.planName] { try? folder.remove(name) }
  }

  /// All captures that any of them still has.
  var working: Set<String> {
    runs.reduce(into: []) { names, run in names.formUnion(run.working) }
  }

  /// Who has a capture, for messages.
  func holder(of capture: String) -> String {
    for run in runs where run.working.contains(capture) {
      let task = run.elements.values.first { element in
        element.captures.contains { $0.name == capture }
      }?.task
      return "run \(run.plan.run)" + (task.map { " (job \($0.text))" } ?? "")
    }
    return "another run"
  }

  /// Takes what their elements have written.
  mutating func hear(atSeconds now: Double) {
    for index in runs.indices {
      let wanted = Set(runs[index].elements.keys)
      for entry in runs[index].reader.read(where: { wanted.contains($0) }) {
        runs[index].elements[entry.element]?.hear(entry.line, atSeconds: now)
        if case .capture(let line) = entry.line { runs[index].lines[line.name] = line }
      }
      runs[index].isSupervised = FileLock.isHeld(at: runs[index].files.lock)
    }
  }

  /// Takes what the batch system says of them; those that are over are let go.
  mutating func see(_ table: TaskTable, atSeconds now: Double) {
    // What is let go is not read any more: its last lines first.
    hear(atSeconds: now)
    for index in runs.indices {
      for (number, element) in runs[index].elements {
        guard let task = element.task else { continue }
        runs[index].elements[number]?.see(table[task], isQueue: table.isQueue, atSeconds: now)
      }
      runs[index].dropOver(atSeconds: now)
      if !runs[index].isSupervised, runs[index].elements.isEmpty { Self.close(runs[index].files) }
    }
  }

  /// The line that another run's element gave a capture since we look, if it did the same to it.
  func line(of capture: String, key: String) -> (CaptureLine, LiveElement?)? {
    for run in runs where run.plan.key == key {
      if let line = run.lines[capture] { return (line, nil) }
    }
    return nil
  }
}

extension ConcurrentRuns.Run {
  /// `nil` for one of which nothing is left.
  init?(_ files: RunFiles, _ system: any BatchSystem) {
    guard let plan = ClusterPlan.read(files) else { return nil }
    self.files = files
    self.plan = plan
    reader = ResultReader(files)
    isSupervised = FileLock.isHeld(at: files.lock)
    let tasks = Self.tasks(files, system)
    let orders = OrderFiles(files: files)
    let decided = DecisionLog.read(files)
    for (number, task) in tasks {
      guard let order = orders.read(number) else { continue }
      let captures = order.captures.filter { decided[$0.name] == nil }
      if captures.isEmpty { continue }
      var element = LiveElement(number: number, request: order.request, captures: captures)
      element.task = task
      elements[number] = element
    }
    // What had been written before is not news: only how the elements stand.
    for entry in reader.read(where: { tasks[$0] != nil }) {
      elements[entry.element]?.hear(entry.line, atSeconds: 0)
    }
    elements = elements.filter { $0.value.end == nil }
    if elements.isEmpty, !isSupervised {
      ConcurrentRuns.close(files)
      return nil
    }
  }

  /// The elements that were submitted, by number. Of a submission of which nobody knows whether it was
  /// taken, its name tells.
  static func tasks(_ files: RunFiles, _ system: any BatchSystem) -> [Int: TaskID] {
    guard let folder = try? HeldFolder.following(files.folder),
      let history = try? SubmissionLog.read(in: folder)
    else { return [:] }
    var tasks: [Int: TaskID] = [:]
    for entry in history.entries {
      var job = entry.job
      if case .intended = entry.state,
        case .jobs(let jobs) = system.jobs(named: entry.submission.name)
      {
        job = jobs.first
      }
      guard let job else { continue }
      for index in 0..<max(0, entry.submission.count) {
        tasks[entry.submission.firstElement + index] = TaskID(job: job, index: index)
      }
    }
    return tasks
  }

  /// Captures that it still has: of a supervised one all that have not ended, else those of elements that
  /// may be at work.
  var working: Set<String> {
    var names: Set<String> = []
    for element in elements.values {
      names.formUnion(element.captures.map(\.name).filter { element.lines[$0] == nil })
    }
    guard isSupervised else { return names }
    let decided = DecisionLog.read(files)
    return names.union(plan.work.filter { decided[$0] == nil })
  }

  /// Lets go of elements that have ended, by their own word or that of the batch system.
  mutating func dropOver(atSeconds now: Double) {
    elements = elements.filter { _, element in
      guard let task = element.task else { return false }
      let facts = element.facts(task, log: [], atSeconds: now)
      if facts.end != nil { return false }
      if let gone = facts.secondsGone, gone >= 30 { return false }
      switch facts.view?.state {
      case .pending, .running, .unknown, nil: return true
      default: return false
      }
    }
  }
}

extension ClusterPlan {
  static func read(_ files: RunFiles) -> ClusterPlan? {
    guard
      let bytes = try? HeldFolder.following(files.folder).contents(of: RunFiles.planName)
    else { return nil }
    return try? JSONDecoder().decode(ClusterPlan.self, from: Data(bytes))
  }
}
