import Captures
import Core
import Synchronization
import SystemPackage

/// A run over any number of captures.
public struct BatchRun: Sendable {
  package let registry: CaptureRegistry
  /// What the run asks for.
  package let asking: RunRequest
  package var pipeline: PipelineDefinition { asking.pipeline }
  package let options: RunOptions
  let clock: RunClock
  /// Opens captures for planning.
  package let look: CaptureLook

  /// - Parameters:
  ///   - look: opens captures that are planned without being processed; by default in this process.
  ///   - stages: reads what captures were asked for before; `nil`: kinds that the pipeline has.
  public init(
    registry: CaptureRegistry, pipeline: PipelineDefinition, options: RunOptions,
    clock: RunClock = .system, look: CaptureLook? = nil, stages: StageRegistry? = nil
  ) {
    self.look = look ?? OpenedCapture.look(registry)
    self.registry = registry
    asking = RunRequest(pipeline, options, stages)
    self.options = options
    self.clock = clock
  }

  /// The captures that were found, in path order, each once, with the output folder that is theirs
  /// (`Ownership`). Writes nothing.
  public func targets(_ findings: [CaptureFinder.Finding]) -> [CaptureTarget] {
    var seen: Set<CaptureLocation> = []
    var identities: [FilePath: FileID] = [:]
    var seenFolders: Set<[String]> = []
    let captures = findings.flatMap(\.captures).filter { capture in
      guard seen.insert(CaptureLocation(capture)).inserted else { return false }
      // A link, a bind mount or a second name of the file leads to the same place under another path.
      guard let identity = identities[capture.path] ?? CaptureLocation(capture).id else {
        return true
      }
      identities[capture.path] = identity
      return seenFolders.insert(["\(identity)", capture.stem ?? ""]).inserted
    }
    return Ownership(root: options.output).resolve(
      captures.map { (path: $0.path.text, capture: $0) }
        .sorted { ($0.path, $0.capture.id) < ($1.path, $1.capture.id) }.map(\.capture))
  }

  /// Runs everything inline, one capture after the other: what a crash would cost is the whole run.
  /// Users get `Supervisor`; tests and debuggers this.
  ///
  /// Never throws: every capture ends in the report. `declined` are paths that led to no capture.
  public func run(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String,
    events: any EventSink, cancellation: Cancellation, interruption: Interruption? = nil
  ) -> RunReport {
    let interruption = interruption ?? Interruption(abort: cancellation)
    var builder = RunReportBuilder(
      targets, declined: declined, run: run, clock: clock, events: events)
    var options = options
    options.outputPlace = OutputGuard(options.output)
    let task = CaptureTask(
      registry: registry, asking: asking, options: options, clock: clock, run: run,
      budget: CoreBudget(cores: options.cores), events: events, interruption: interruption)
    for (index, target) in targets.enumerated() {
      if interruption.isRequested {
        builder.skip(index, .interrupted)
      } else if options.failFast, builder.hasFailed {
        builder.skip(index, .failFast)
      } else {
        builder.start(index)
        builder.finish(index, task.execute(target))
      }
    }
    ScratchFolder.end(options, run: run)
    return builder.close()
  }
}

/// Opens a capture to say what planning needs to know of it.
public typealias CaptureLook = @Sendable (Recognition) throws(CaptureError) -> OpenedCapture

extension OpenedCapture {
  /// A look in this process.
  static func look(_ registry: CaptureRegistry) -> CaptureLook {
    { (recognition) throws(CaptureError) in
      OpenedCapture(try registry.open(recognition), of: recognition, registry)
    }
  }

  init(_ capture: Capture, of recognition: Recognition, _ registry: CaptureRegistry) {
    self.init(
      capture,
      CaptureSummary(capture, readerVersion: registry.readerVersion(of: recognition.family)))
  }
}

/// The jobs of one capture, before anything is done.
public struct CapturePlan: Sendable {
  /// The name of its folder in the output.
  public var id: String
  /// The folder that the capture lies in, as `run` tells it, and its family.
  public var path: String?
  public var family: String?
  public var jobs: [PlannedJob]
  /// Steps inside of stages and intermediates, by all that the capture is asked for. Only those who ask for every stage
  /// are told of them.
  public var inner: Set<String> = []
  /// Results of earlier runs that would go because their stages have nothing to do any more.
  public var removedResults: [RemovedResult] = []
  /// Whether nothing of what was asked for by name can be made.
  public var isNotPossible = false
  /// Files among its results that are none.
  public var warnings: [CaptureWarning] = []
  /// Why the capture cannot be opened, or its results may not be written.
  public var error: String?
  /// The exit code of a run whose results may not be written; `nil`: they may.
  public var refusal: Int?
}

extension CapturePlan {
  init(_ target: CaptureTarget, _ jobs: [PlannedJob], error: String? = nil) {
    self.init(
      id: target.layout.name, path: target.recognition.path.shown,
      family: target.recognition.family.rawValue, jobs: jobs, error: error)
  }
}

extension BatchRun {
  /// Finds captures without recognizing those that an earlier run into the same output knows and that
  /// have not changed.
  public func finder(
    memory: (any FolderMemory)? = nil,
    looked: @escaping @Sendable (_ folders: Int, _ captures: Int) -> Void = { _, _ in }
  ) -> CaptureFinder {
    // Folders are compared as they are found: without links.
    let signature = registry.signature
    let output = PathSafety.resolvedAsFarAsPossible(options.output)
    return CaptureFinder(
      registry, isLeftOut: { $0 == output },
      remembered: { [root = options.output] folder in
        KnownCapture.onlyCapture(of: folder, in: root, signature: signature)
      }, memory: memory, looked: looked)
  }

  /// What would be done, without touching or creating anything.
  public func plan(_ targets: [CaptureTarget]) -> [CapturePlan] {
    var plans: [CapturePlan] = []
    try? plan(targets, { $0 }, { plans.append($0) })
    return plans
  }

  /// Plans block by block on all cores that the run may use, so that what is held in memory does not
  /// grow with the number of captures: each plan becomes what `render` makes of it, on the core that
  /// planned it, and is handed to `consume` on the caller's thread in the order of `targets`.
  ///
  /// A capture whose files are those of the last run is not opened.
  public func plan<Rendered: Sendable>(
    _ targets: [CaptureTarget], _ render: @Sendable (CapturePlan) throws -> Rendered,
    _ consume: (Rendered) throws -> Void
  ) throws {
    try inBlocks(targets, { try render(plan($0, $1, known($0, $1))) }, consume)
  }

  func inBlocks<Result: Sendable>(
    _ targets: [CaptureTarget], _ body: @Sendable (CaptureTarget, ParameterPool) throws -> Result,
    _ consume: (Result) throws -> Void
  ) throws {
    let pool = ParameterPool()
    let budget = CoreBudget(cores: options.cores)
    let block = 256
    for start in stride(from: 0, to: targets.count, by: block) {
      // Captures are planned in groups, because taking a core's token costs as much as planning one.
      let results = try concurrentMap(
        targets[start...].prefix(block), share: 16, budget: budget
      ) { try body($0, pool) }
      for result in results { try consume(result) }
    }
  }

  /// What the last run knew of a capture, if nothing has changed since by this comparison.
  func known(
    _ target: CaptureTarget, _ pool: ParameterPool, _ comparison: KnownCapture.Comparison = .stamps
  ) -> KnownCapture? {
    KnownCapture.ifCurrent(
      target.recognition, target.layout, registry: registry, pool: pool, comparison: comparison,
      verify: options.verify)
  }

  /// - Parameter known: `nil`: the capture is opened.
  func plan(
    _ target: CaptureTarget, _ pool: ParameterPool, _ known: KnownCapture?
  ) -> CapturePlan {
    if let why = target.refusal {
      var plan = CapturePlan(target, [], error: why.text)
      plan.refusal = why.exit
      return plan
    }
    do throws(CaptureError) {
      let collector: FactsCollector
      let noted: Requests
      if let known {
        collector = known.collector
        noted = known.requests(pool) ?? Requests()
      } else {
        noted = CaptureCache(of: target.layout)?.requests ?? Requests()
        collector = FactsCollector(
          summary: try look(target.recognition).summary, folder: target.recognition.path,
          target.layout,
          verify: options.verify)
      }
      let joined = asking.joined(to: noted).planner
      let own = joined.adapted(to: collector.summary, known: collector.store.known)
      let facts = collector.facts(of: own.pipeline)
      var jobs = own.plan(facts)
      let removed =
        CaptureSession.inapplicable(own.pipeline, facts.mapValues(\.applicability)).compactMap {
          RemovedResult(facts[$0.stage]?.published, reason: $0.why)
        } + jobs.compactMap(\.removed)
      let named = (request?.named ?? []) + (request?.listed ?? [])
      for index in jobs.indices
      where jobs[index].action == .notApplicable && named.contains(jobs[index].stage) {
        jobs[index].isTold = true
      }
      var plan = CapturePlan(target, jobs)
      plan.inner = Set(
        own.pipeline.stages.filter {
          $0.partOf != nil || joined.pipeline[$0.name]?.keep == false
        }.map(\.name))
      plan.removedResults = removed
      plan.warnings = jobs.filter { $0.action == .upToDate }.compactMap {
        CaptureWarning(unlisted: collector.unlisted(in: $0.stage), in: $0.stage)
      }
      let wanted = jobs.filter {
        PipelineSource.decides($0.stage, named: request?.named ?? [], listed: request?.listed ?? [])
      }
      plan.isNotPossible = !wanted.isEmpty && wanted.allSatisfy { $0.action == .notApplicable }
      return plan
    } catch {
      return CapturePlan(target, [], error: error.description)
    }
  }

  /// The report of a run over captures for none of which anything is to be done; `nil` when anything may
  /// be. Writes nothing.
  public func reportIfUpToDate(_ targets: [CaptureTarget]) -> RunReport? {
    let upToDate = upToDate(targets).compactMap(\.self)
    guard upToDate.count == targets.count else { return nil }
    var report = RunReport(run: "none")
    report.captures = upToDate
    report.exit = ExitStatus.of(report, [])
    return report
  }

  /// The reports of many captures, on all cores that the run may use.
  ///
  /// - Parameter byTimes: by names, sizes and times of modification alone, for captures whose owner, mode or place on
  ///   the disk has changed: their notes are believed, and no file is read.
  public func upToDate(
    _ targets: [CaptureTarget], byTimes: Bool = false
  ) -> [CaptureReport?] {
    var reports: [CaptureReport?] = Array(repeating: nil, count: targets.count)
    for finding in UpToDateCheck(self, targets, comparison: byTimes ? .times : .stamps).look(
      at: Array(targets.indices), until: Interruption())
    {
      reports[finding.index] = finding.upToDate
    }
    return reports
  }

  /// The report of one capture by the content of its files; notes the stamps that they bear now. `nil` when anything
  /// may be to do. Cost: reads every file of the capture that a stage reads.
  public func upToDateByContent(_ target: CaptureTarget) -> CaptureReport? {
    guard let report = upToDate(target, comparison: .contents)
    else { return nil }
    RecordIndex.renewStamps(of: target.layout, nowNanoseconds: FileStamp.nowNanoseconds())
    return report
  }

  /// Whether a run has worked on a capture with files of the same names and sizes; while they may be written to, also of
  /// the same times of modification. Files that were restored with other times are no more and no fewer than they were.
  public func hasWorkedOn(_ target: CaptureTarget, isAtRest: Bool) -> Bool {
    guard let cache = CaptureCache(of: target.layout), cache.family == target.recognition.family
    else { return false }
    if cache.isAbout(target.recognition) {
      return cache.inputs.listedAgain().map { now in
        isAtRest ? cache.inputs.sizeStamp == now.sizeStamp : cache.inputs.hasTimes(of: now)
      } == true
    }
    // The capture's results have been moved with its folder.
    return InputListing(target.recognition, nowNanoseconds: .max).map(cache.inputs.looksMoved)
      ?? false
  }

  /// What is known of a capture without processing it: from what an earlier run noted, if nothing has
  /// changed since, else by opening it.
  public func summary(of target: CaptureTarget) throws(CaptureError) -> CaptureSummary {
    if let known = known(target, ParameterPool()) { return known.collector.summary }
    return try look(target.recognition).summary
  }

  /// The report of a capture for which nothing is to be done, told without opening it; `nil` when
  /// anything may be: its files, its artifacts, `capture.json` or the selection ask for it.
  ///
  /// - Parameters:
  ///   - pool: what many captures share.
  ///   - comparison: how its files are compared with those that were noted.
  func upToDate(
    _ target: CaptureTarget, _ pool: ParameterPool = ParameterPool(),
    comparison: KnownCapture.Comparison = .stamps
  ) -> CaptureReport? {
    guard target.refusal == nil,
      let known = known(target, pool, comparison),
      let document = known.document, FileStamp(of: target.layout.captureDocument) == document,
      let noted = known.requests(pool)
    else { return nil }
    let joined = asking.joined(to: noted)
    let collector = known.collector
    let planner = joined.planner.adapted(to: collector.summary, known: collector.store.known)
    let requests = joined.requests(made: planner)
    // Else the document of the capture may be another one.
    guard requests == noted || joined.addsNothing else { return nil }
    let facts = collector.facts(of: planner.pipeline)
    let jobs = planner.plan(facts)
    guard
      jobs.allSatisfy({
        ($0.action == .upToDate || $0.action == .notApplicable) && !$0.isOutdated
      }),
      // Folders of failed attempts are still to be removed. Most captures have none.
      !FileSystem.exists(target.layout.failedRoot)
        || !jobs.contains(where: { FileSystem.exists(target.layout.failed($0.stage)) }),
      // Something of a stage without anything to do is still to be removed.
      !CaptureSession.inapplicable(planner.pipeline, facts.mapValues(\.applicability))
        .contains(where: { collector.store.record($0.stage) != nil })
    else { return nil }
    let results = jobs.map { job in
      var result = JobResult(
        report: StageReport(
          stage: job.stage, uses: job.uses,
          outcome: job.action == .upToDate ? .upToDate : .notPossible))
      if job.action == .upToDate {
        if let record = facts[job.stage]?.published?.record {
          result.take(record, unlisted: collector.unlisted(in: job.stage))
        }
      } else {
        result.report.why.message = job.details.joined(separator: "; ")
        result.warnings = facts[job.stage]?.warningsOfNothing ?? []
      }
      return result
    }
    var report = target.report(.upToDate)
    report.missing = collector.summary.missingFiles
    report.noteAltered(in: target.recognition.path, collector.digests)
    report.take(
      results, found: planner.pipeline.unsettled(known.warnings),
      lacking: collector.summary.lacking,
      shortfallPercent: planner.pipeline.shortfallPercent, isStrict: options.strict,
      of: options.pipelineSource)
    report.noteOwners { joined.planner.pipeline[$0]?.partOf }
    guard requests == noted || RecordIndex.note(requests, of: target.layout) else { return nil }
    return report
  }
}

extension RecordIndex {
  /// Notes the stamps that the files of a capture bear now, where their content is known to be the same: after a change
  /// of owner or mode, or when a backup was restored. Failing to is no harm: the files are read again the next time. So
  /// is a file that changed a moment ago.
  fileprivate static func renewStamps(of layout: OutputLayout, nowNanoseconds: Int64) {
    renew(layout) { cache, index in
      guard let inputs = cache.inputs.renewed(nowNanoseconds: nowNanoseconds), inputs.isSettled,
        cache.inputs.looksLike(inputs)
      else { return false }
      let (old, new) = (cache.inputs.stamps, inputs.stamps)
      cache.inputs = inputs
      index?.core.inputs = inputs
      for (path, entry) in index?.digests ?? [:] {
        guard let stamp = new[path], entry.stamp == old[path] else { continue }
        // Also of files that no stage of this pipeline reads: another one may.
        var same = entry
        same.stamp = stamp
        let isSame = (try? Digest(ofFileAt: FilePath(text: path))) == entry.sha256
        index?.digests[path] = isSame ? same : nil
      }
      return true
    }
  }

  /// Notes requests that add nothing to those that are noted, so that no capture is opened for them. Whether it could.
  fileprivate static func note(_ requests: Requests, of layout: OutputLayout) -> Bool {
    renew(layout) { cache, index in
      cache.requests = requests
      index?.core.requests = requests.digest
      return true
    }
  }

  /// Changes what is noted of a capture. Whether it could: no other run may be at work on it.
  @discardableResult
  private static func renew(
    _ layout: OutputLayout, _ change: (inout CaptureCache, inout RecordIndex?) -> Bool
  ) -> Bool {
    guard let notes = layout.openNotes(), let lock = try? FileLock(in: notes, holder: "scanmill")
    else { return false }
    defer { withExtendedLifetime(lock) {} }
    return (try? CaptureCache.renew(in: notes, change)) == true
  }
}

/// The wish that a run ends: at first nothing more starts and what is nearly done may end, then what
/// runs is stopped.
public final class Interruption: Sendable {
  /// Stops running stages at their next frame.
  public let abort: Cancellation
  /// The deadline on the monotonic clock.
  private let deadlineSeconds = Mutex<Double?>(nil)

  public init(abort: Cancellation = Cancellation()) {
    self.abort = abort
  }

  /// From now on nothing starts. Stages that will be done within `graceSeconds` may end; the first
  /// request counts.
  public func request(graceSeconds: Double, clock: RunClock) {
    let deadline = clock.monotonicSeconds() + max(0, graceSeconds)
    deadlineSeconds.withLock { $0 = $0 ?? deadline }
  }

  public var isRequested: Bool {
    abort.isCancelled || deadlineSeconds.withLock { $0 != nil }
  }

  /// How long stages may still take; `nil` before a request, 0 when everything is to stop.
  public func secondsLeft(_ clock: RunClock) -> Double? {
    if abort.isCancelled { return 0 }
    return deadlineSeconds.withLock { $0 }.map { max(0, $0 - clock.monotonicSeconds()) }
  }
}
