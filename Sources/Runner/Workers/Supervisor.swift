import Captures
import Pipeline
import Processes
import Storage
import SystemPackage

/// Runs a batch with one worker process per capture, so that a crash, a runaway allocation or a hang
/// costs one capture and never the night.
///
/// One thread, the caller's, decides; a thread per worker listens and puts what it hears into a mailbox.
/// Whatever becomes of a worker, its capture ends in exactly one entry of the report: its own, if it
/// gave one, else one made of what its events had told by then. Workers die with this process.
public struct Supervisor: Sendable {
  let batch: BatchRun
  let source: PipelineSource
  let workers: WorkerProcess

  /// - Parameters:
  ///   - source: what `batch` has its pipeline from; workers read it again.
  ///   - program: the executable that, called with `arguments`, calls `Worker.run`.
  ///   - prepared: a copy of it that is asked first.
  public init(
    _ batch: BatchRun, source: PipelineSource, program: FilePath, arguments: [String],
    prepared: PreparedProcess? = nil
  ) {
    self.batch = batch
    self.source = source
    workers = WorkerProcess(program: program, arguments: arguments, prepared: prepared)
  }

  /// Runs everything; never throws.
  public func run(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String,
    events: any EventSink, interruption: Interruption
  ) -> RunReport {
    let watch = SupervisedRun(
      self, targets, declined: declined, run: run, events: events, interruption: interruption)
    return watch.execute()
  }

  /// Runs captures as `supply` gives them, until it gives none while none runs.
  public func run(
    supply: any TargetSupply, run: String, events: any EventSink, interruption: Interruption
  ) -> RunReport {
    let watch = SupervisedRun(
      self, [], declined: [], supply: supply, run: run, events: events, interruption: interruption)
    return watch.execute()
  }
}

/// Gives a run captures while it goes on.
public protocol TargetSupply: Sendable {
  /// At most `most` captures that are to be started now, whose folders are claimed. Asked four times a
  /// second, and whenever a worker has ended, from the thread that runs the run; a run for which nothing is
  /// at work and to which nothing is given ends.
  func next(_ most: Int) -> [CaptureTarget]
}
