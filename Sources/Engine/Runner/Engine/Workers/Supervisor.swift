import Captures
import Core
import SystemPackage

/// Runs a batch with one worker process per capture, so that a crash, a runaway allocation or a hang
/// costs one capture and never the night.
///
/// One thread, the caller's, decides; a thread per worker listens and puts what it hears into a mailbox.
/// Whatever becomes of a worker, its capture ends in exactly one entry of the report: its own, if it
/// gave one, else one made of what its events had told by then. Workers die with this process.
public struct Supervisor: Sendable {
  public let batch: BatchRun
  let source: PipelineSource
  let workers: WorkerProcess
  let limits: LifeWatch.Limits

  /// - Parameters:
  ///   - source: what `batch` has its pipeline from; workers read it again.
  ///   - program: the executable that, called with `arguments`, calls `Worker.run`.
  ///   - limits: when a worker that does not get on is killed.
  public init(
    _ batch: BatchRun, source: PipelineSource, program: FilePath, arguments: [String],
    limits: LifeWatch.Limits = LifeWatch.Limits(ProcessOrder.currentEnvironment)
  ) {
    self.batch = batch
    self.source = source
    self.limits = limits
    workers = WorkerProcess(program: program, arguments: arguments)
  }

  /// How a message begins that tells of such a worker's capture, which is tried again.
  public static let triedOnceMore = "tried once more: "

  /// What workers are called with besides, where they will most likely decode such a video: they load what that needs
  /// while they wait for their order.
  public static let videoFlags = [
    FamilyDescription.Video.bare: "--bare-video", .container: "--video",
  ]

  /// What all workers together may use, for one run or for several side by side.
  public func makeAdmission() -> Admission {
    Admission(
      cores: batch.options.cores,
      memoryBytes: batch.options.memoryBytes ?? MachineLimits.availableMemoryBytes / 10 * 9,
      mostWorkers: MachineLimits.workers)
  }

  /// What a run knows before anything is written about it; the first workers start here and load what they need.
  ///
  /// - Parameters:
  ///   - supply: gives more captures while the run goes on, which ends when it gives none while none runs.
  ///   - admission: shared by runs that go on at the same time.
  public func prepare(
    _ targets: [CaptureTarget] = [], supply: TargetSupply? = nil, admission: Admission? = nil
  ) -> PreparedRun {
    let admission = admission ?? makeAdmission()
    let (order, isWorkLikely) = Self.finishedFirst(targets, batch.pipeline)
    let limit = memoryLimitBytes(
      admission, known: supply == nil ? targets.count : batch.options.cores)
    var workers = workers
    if let flag = Self.videoFlags[likelyVideo(targets, supply)] { workers.arguments.append(flag) }
    let pool = WorkerPool(workers, memoryLimitBytes: limit)
    pool.keepReady((isWorkLikely ? targets.count : 0) + (supply == nil ? 0 : 1), admission)
    return PreparedRun(
      supervisor: self, targets: targets, supply: supply, admission: admission, pool: pool,
      order: order, isWorkLikely: isWorkLikely)
  }

  /// The video that some capture may have and a stage reads.
  private func likelyVideo(
    _ targets: [CaptureTarget], _ supply: TargetSupply?
  ) -> FamilyDescription.Video {
    let readsColor = batch.pipeline.stages.contains { stage in
      stage.kind.reads(stage.parameters, connected: Set(stage.inputs.map(\.port))).contains(.color)
    }
    guard readsColor else { return .absent }
    if supply != nil { return .container }
    return targets.map { batch.registry.description(of: $0.recognition.family).video }.max()
      ?? .absent
  }

  /// An equal part of what the user gives; without a word of the user, all that the machine has.
  private func memoryLimitBytes(_ admission: Admission, known: Int) -> Int64 {
    guard let given = batch.options.memoryBytes else { return admission.memoryBytes }
    let needed = max(1, Admission.expectedMemoryBytes(batch.pipeline))
    let atOnce = min(admission.cores, known, max(1, Int(clamping: given / needed)))
    return given / Int64(max(1, atOnce))
  }
}

/// A run about which nothing is written yet.
public struct PreparedRun: Sendable {
  let supervisor: Supervisor
  let targets: [CaptureTarget]
  let supply: TargetSupply?
  let admission: Admission
  /// Its first workers load what they need while the run is planned and its journal begun.
  let pool: WorkerPool
  /// Indices of `targets`, in the order in which they are taken up.
  let order: [Int]
  /// Whether some capture has no result at all.
  let isWorkLikely: Bool

  /// Runs everything; never throws.
  public func run(
    declined: [CaptureFinder.Finding] = [], run: String, events: any EventSink,
    interruption: Interruption
  ) -> RunReport {
    SupervisedRun(
      self, declined: declined, run: run, events: events, interruption: interruption
    ).execute()
  }

  /// Ends the workers of a run that is not to be.
  public func dismiss() { pool.dismissWaiting() }
}

/// Gives a run at most so many captures that are to be started now, whose folders are claimed. Asked four times a
/// second, and whenever a worker has ended, from the thread that runs the run; a run for which nothing is
/// at work and to which nothing is given ends.
public typealias TargetSupply = @Sendable (_ most: Int) -> [CaptureTarget]

extension Supervisor {
  /// The order in which captures are taken up: those that earlier runs have brought furthest come first, so that a night
  /// that ends early leaves as many complete ones as it can; among equals, the order given. Indices; and whether some
  /// capture has no result at all, so that a worker will be needed. A capture may lack a stage that does not apply to it,
  /// or an intermediate, and need none.
  static func finishedFirst(
    _ targets: [CaptureTarget], _ pipeline: PipelineDefinition
  ) -> (indices: [Int], isWorkLikely: Bool) {
    let done = targets.map { target in
      let folder = HeldFolder(target.layout.folder, followsLast: false)
      return pipeline.stages.count {
        folder?.status(of: "\($0.name)/\(OutputNames.record)") != nil
      }
    }
    return (
      targets.indices.sorted { (-done[$0], $0) < (-done[$1], $1) },
      done.contains(0)
    )
  }
}
