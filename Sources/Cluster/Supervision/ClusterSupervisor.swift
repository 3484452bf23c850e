import Captures
import Core
import Engine
import SystemPackage
import Glibc

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
    let probe = LockProbe.hold(in: folder, run: run)
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
    let (work, settled) = findWork(targets, until: interruption)
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
      batch: batch, plan: plan, files: files, system: system, site: site, events: events,
      interruption: interruption, clock: clock, targets: targets,
      indices: ClusterContext.indices(of: targets))
    let cluster = try ClusterRun(context, declined: declined, stop: stop)
    if let stop {
      try cluster.begin(settled: settled, work: [], planned: planned)
      ConcurrentRuns.close(files)
      return .ended(cluster.close(), stop)
    }
    try cluster.begin(settled: settled, work: work, planned: planned)
    if isDetached, !cluster.isOver, let jobs = cluster.detach() {
      return .detached(elements: cluster.submitter.submittedCount, jobs: jobs)
    }
    if !cluster.isOver { cluster.attend(isLeft: isLeft) }
    let report = cluster.close()
    if cluster.stopper.reason == nil || cluster.elements.isEmpty { ConcurrentRuns.close(files) }
    return .ended(report, cluster.stopper.reason)
  }

  /// Indices of captures with work, and reports of the others by index. Captures that an interrupt
  /// leaves unchecked are in neither.
  private func findWork(
    _ targets: [CaptureTarget], until interruption: Interruption
  ) -> (work: [Int], settled: [Int: CaptureReport]) {
    let check = UpToDateCheck(batch, targets, comparison: .recentStamps)
    var work: [Int] = []
    var settled: [Int: CaptureReport] = [:]
    for start in stride(from: 0, to: targets.count, by: check.blockLength) {
      if interruption.isRequested { break }
      let block = Array(start..<min(targets.count, start + check.blockLength))
      for finding in check.look(at: block, until: interruption) {
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
