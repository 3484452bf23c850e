import Core

/// Starts jobs of a capture, each on a thread of its own, and hears from them through one mailbox. Nothing is shared
/// between jobs but the budget, the cancellation and the output folder, where each has a staging folder of its own.
struct JobStarter {
  let session: CaptureSession
  let output: CaptureOutput
  let planner: Planner
  let options: RunOptions
  /// The id that names in staging carry.
  let attempt: String
  let budget: CoreBudget
  let clock: RunClock
  private let mailbox = Mailbox<JobMessage>()

  init(
    _ session: CaptureSession, _ output: CaptureOutput, _ planner: Planner, _ options: RunOptions,
    attempt: String, budget: CoreBudget, clock: RunClock
  ) {
    self.session = session
    self.output = output
    self.planner = planner
    self.options = options
    self.attempt = attempt
    self.budget = budget
    self.clock = clock
  }

  /// What a job is told besides.
  struct Order {
    var stage: StageDefinition
    var job: RunningJob
    var unusableInputs: Set<String>
    var expectedInputs: Set<String>
    /// Whether a dependent asked for it.
    var isDemanded: Bool
    var log: LogFile
  }

  /// Starts a job. One for which there is no thread fails at once, which is heard like any other end.
  func start(_ order: Order) {
    let runner = JobRunner(
      capture: session.capture, stage: order.stage, planner: planner, collector: session.collector,
      layout: session.layout, output: output, attempt: attempt, budget: budget, clock: clock,
      progress: order.job.progress, cancellation: order.job.cancellation,
      identities: session.identities, unusableInputs: order.unusableInputs,
      expectedInputs: order.expectedInputs, isDemanded: order.isDemanded, log: order.log,
      place: options.outputPlace, program: options.program)
    if ThreadPool.shared?.start({ [mailbox] in mailbox.put(runner.execute()) }) != true {
      var result = JobResult(order.stage, .failed, ResourceExhaustion.ofThreads.description)
      result.verdict = FailureTable.verdict(.ourselves, .shortage)
      mailbox.put(.ended(order.stage.name, result))
    }
  }

  /// What a job has to say; waits for it at most so long.
  func take(withinSeconds seconds: Double) -> JobMessage? { mailbox.take(withinSeconds: seconds) }
}
