import Captures
import Core
import Engine
import Glibc
import SystemPackage

/// Processes a batch on a batch system: determines the work on this machine, submits it, and
/// reports on all captures.
public struct ClusterSupervisor {
  let batch: BatchRun
  let source: PipelineSource
  let profile: ClusterProfile
  let limits: ClusterLimits
  public let options: RunOptions
  let graceSeconds: Double
  let program: ProgramIdentity
  let programPath: FilePath
  let clock: RunClock
  let makeSystem: @Sendable (FilePath) -> SlurmSystem

  /// - Parameters:
  ///   - options: those of `batch`; cores and memory are the user's settings for an array task, if
  ///     any.
  ///   - programPath: the program that array tasks execute; absolute.
  ///   - makeSystem: receives the run's folder.
  public init(
    _ batch: BatchRun, source: PipelineSource, profile: ClusterProfile, limits: ClusterLimits,
    options: RunOptions, graceSeconds: Double, program: ProgramIdentity, programPath: FilePath,
    clock: RunClock = .system, makeSystem: @escaping @Sendable (FilePath) -> SlurmSystem
  ) {
    self.batch = batch
    self.source = source
    self.profile = profile
    self.limits = limits
    self.options = options
    self.graceSeconds = graceSeconds
    self.program = program
    self.programPath = programPath
    self.clock = clock
    self.makeSystem = makeSystem
  }

  /// The result of a run.
  public enum Outcome: Sendable {
    case ended(RunReport, ClusterStop?)
    /// Everything is submitted; a follow-up job concludes the run.
    case detached(elements: Int, jobs: [String])
  }

  /// Runs everything.
  ///
  /// - Parameters:
  ///   - skipped: reports of captures that are left alone.
  ///   - notify: a command that receives the report at the end of a detached run.
  ///   - isLeft: whether the terminal is gone.
  /// - Throws: if files of the run cannot be written.
  public func run(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], skipped: [CaptureReport],
    unrecognized: [RunReport.Unrecognized], isDetached: Bool, notify: String?, holdsSecrets: Bool,
    run: String, events: any EventSink, interruption: Interruption, isLeft: () -> Bool
  ) throws -> Outcome {
    let root = options.output
    let files = RunFiles(run: OutputLayout.run(run, in: root))
    let folder = try HeldFolder.following(files.run).makeFolder(OutputNames.cluster)
    if holdsSecrets {
      _ = files.folder.withPlatformString { chmod($0, 0o700) }
    }
    _ = try folder.makeFolder(RunFiles.resultsName)
    _ = try folder.makeFolder(OutputNames.logs)
    let nonce = "\(run) \(UInt64.random(in: 0 ... .max))"
    try folder.replace(RunFiles.nonceName, with: Array(nonce.utf8))
    let lock = try? FileLock(in: folder, name: RunFiles.lockName, holder: "run \(run)") { _ in false
    }
    let probe = FileLock.probe(in: folder, run: run)
    defer { withExtendedLifetime((lock, probe)) {} }

    var options = options
    options.output = root
    var plan = ClusterPlan(
      run: run, nonce: nonce, isDetached: isDetached, profile: profile, limits: limits,
      pipeline: source, options: options, workingFolder: try FileSystem.absolute("."),
      graceSeconds: graceSeconds, program: program, programPath: programPath,
      programDigest: try Digest(ofFileAt: programPath), work: [], settled: skipped,
      unrecognized: unrecognized, notify: notify, holdsSecrets: holdsSecrets)

    let planned = try ConcurrentRuns.planned(in: root, except: run)
    let (work, settled) = UpToDateCheck(batch, targets, comparison: .recentStamps)
      .divide(Array(targets.indices), until: interruption)
    plan.work = work.map { targets[$0].layout.name }
    plan.settled += settled.sorted { $0.key < $1.key }.map(\.value)
    try folder.replace(RunFiles.planName, with: try JSONText.canonical(plan))

    let system = makeSystem(files.run)
    var site = Site()
    var stop: ClusterStop?
    // Without work the batch system is not needed.
    if !work.isEmpty {
      switch system.site() {
      case .site(let known): site = known
      case .silent(let words): stop = .unreachable(words, elements: 0)
      case .unusable(let words): stop = .configuration(words)
      }
    }
    let context = ClusterContext(
      batch, plan, files, system, site, targets, events: events, interruption: interruption,
      clock: clock)
    if let stop { context.stopper.stop(stop) }
    let cluster = try ClusterRun(context, declined: declined)
    if let stop {
      try cluster.begin(settled: settled, work: [], planned: planned)
      files.close()
      return .ended(cluster.close(), stop)
    }
    try cluster.begin(settled: settled, work: work, planned: planned)
    if isDetached, !cluster.isOver, let jobs = cluster.detach() {
      return .detached(elements: cluster.submitter.submittedCount, jobs: jobs)
    }
    if !cluster.isOver { cluster.attend(isLeft: isLeft) }
    let report = cluster.close()
    if context.stopper.reason == nil || context.elements.isEmpty { files.close() }
    return .ended(report, context.stopper.reason)
  }
}

extension UpToDateCheck {
  /// Indices of captures with work, and reports of the others by index. Captures that an interrupt
  /// leaves unchecked are in neither.
  func divide(
    _ indices: [Int], until interruption: Interruption
  ) -> (work: [Int], settled: [Int: CaptureReport]) {
    var (work, settled): ([Int], [Int: CaptureReport]) = ([], [:])
    for start in stride(from: 0, to: indices.count, by: blockLength) {
      if interruption.isRequested { break }
      let block = Array(indices[start..<min(indices.count, start + blockLength)])
      for finding in look(at: block, until: interruption) {
        if let report = finding.upToDate {
          settled[finding.index] = report
        } else {
          work.append(finding.index)
        }
      }
    }
    return (work, settled)
  }
}

extension ClusterSupervisor {
  /// What a run would submit now, as text: the arrays with options and script, and the captures of
  /// their tasks. Writes and submits nothing; asks the site only for its limits.
  public func preview(_ targets: [CaptureTarget]) -> String {
    let root = options.output
    let system = makeSystem(root.appending(OutputNames.runs).appending("RUN"))
    var notes: [String] = []
    let site: Site
    switch system.site() {
    case .site(let known): site = known
    case .silent(let words), .unusable(let words):
      site = Site()
      notes.append(
        "# the site's limits are not known (\(words.onOneLine)): shown with Slurm's defaults")
    }
    let (work, settled) = UpToDateCheck(batch, targets)
      .divide(Array(targets.indices), until: Interruption())
    guard !work.isEmpty else { return "nothing to submit: everything is up to date" }
    let maker = ArrayTaskMaker(batch: batch, limits: limits, site: site)
    let (groups, basis) = maker.groups(
      work.map { targets[$0] }, past: settled.keys.sorted().map { targets[$0] })
    let cost = groups.reduce(0) { $0 + $1.costSeconds }
    notes.append(
      "# \(Plural.text(work.count, "capture")) in \(Plural.text(groups.count, "element")), about "
        + "\(DurationText.estimated(cost)) of work (\(basis))")
    let arrays = Grouping.arrays(of: groups, maxArraySize: site.maxArraySize)
    let throttles = Grouping.throttles(limits.maxRunning, over: arrays.map(\.elements.count))
    for (number, array) in arrays.enumerated() {
      let submission = Submission(
        number: number + 1, name: "scanmill-RUN-\(number + 1)", comment: "scanmill RUN",
        firstElement: array.elements.lowerBound, count: array.elements.count,
        throttle: throttles[number] < array.elements.count ? throttles[number] : nil,
        request: array.request, runFolder: root.appending(OutputNames.runs).appending("RUN"),
        output: root,
        program: programPath, arguments: [])
      notes.append(system.preview(submission))
    }
    let shown = 20
    for (number, group) in groups.prefix(shown).enumerated() {
      let names = group.captures.prefix(5).map(\.name).joined(separator: ", ")
      let rest = group.captures.count > 5 ? ", … (\(group.captures.count))" : ""
      notes.append(
        "# element \(number), \(DurationText.estimated(group.costSeconds)): \(names)\(rest)")
    }
    if groups.count > shown { notes.append("# … \(groups.count - shown) more") }
    return notes.joined(separator: "\n")
  }
}

/// Continues a detached run after its array tasks have ended: retries captures, or concludes the
/// run.
public struct ClusterFinalizer {
  public let files: RunFiles
  public let plan: ClusterPlan
  let clock: RunClock

  /// `nil` for a folder that does not belong to a run on a batch system.
  public init?(run: FilePath, clock: RunClock = .system) {
    files = RunFiles(run: run)
    guard let plan = files.plan else { return nil }
    self.plan = plan
    self.clock = clock
  }

  /// Does nothing if another process is in charge of the run, or it was concluded before.
  ///
  /// - Parameter tell: receives the report when the run is over. During the call no other process
  ///   can conclude the run, and the run counts as concluded only after it returns. If the process
  ///   is killed before that, the run can be concluded again.
  public func perform(
    _ batch: BatchRun, _ system: SlurmSystem, events: any EventSink,
    interruption: Interruption, tell: (RunReport, ClusterStop?) throws -> Void
  ) throws {
    let folder = try HeldFolder.following(files.folder)
    // Elements may be over before the supervisor that submitted them, and the job behind them, has ended: about a minute.
    var looks = 600
    guard !files.isClosed,
      let lock = try FileLock(
        in: folder, name: RunFiles.lockName, holder: "run \(plan.run)",
        keepWaiting: { _ in
          looks -= 1
          return looks > 0 && !interruption.isRequested
        }),
      !files.isClosed
    else { return }
    defer { withExtendedLifetime(lock) {} }
    var site = Site()
    switch system.site() {
    case .site(let known): site = known
    case .silent, .unusable: break
    }
    let context = ClusterContext(
      batch, plan, files, system, site, try targets(), events: events, interruption: interruption,
      clock: clock)
    let cluster = try ClusterRun(context, declined: [])
    try cluster.resume()
    if cluster.concludeOrFollow() { return }
    var report = cluster.close()
    report.captures = plan.settled + report.captures
    report.unrecognized = plan.unrecognized
    // Empty, so that totals are computed from the run's journal, which knows when the run began.
    report.totals = RunTotals()
    try tell(report, context.stopper.reason)
    // While array tasks are still at work, the run stays open.
    if context.stopper.reason?.leavesElements != true { files.close() }
  }

  /// Captures with work, read from the orders.
  private func targets() throws(FileError) -> [CaptureTarget] {
    var found: [String: CaptureTarget] = [:]
    for number in try files.orderNumbers {
      for capture in try files.order(number)?.captures ?? [] {
        found[capture.name] = capture.target
      }
    }
    return plan.work.compactMap { found[$0] }
  }
}
