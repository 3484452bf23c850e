import Core

/// Looks after the jobs of a capture that are on their threads: memory, limits of their own, interrupts, and the sign
/// of life to the supervisor. The capture's loop calls it; jobs only see their cancellation.
struct JobWatch {
  private let clock: RunClock
  private let interruption: Interruption
  private let heartbeat: Heartbeat?
  private let stallNanoseconds: Int64?
  private var running = RunningJobs()
  /// Stages that were asked to stop because of a limit of their own.
  private var stopping: Set<String> = []
  private var pulse = Throttle(everySeconds: 0.25)

  /// - Parameters:
  ///   - stallNanoseconds: how long a stage without a word of its own may show no sign of life; `nil`: for ever.
  ///   - heartbeat: `nil`: there is no listener.
  init(
    clock: RunClock, interruption: Interruption, heartbeat: Heartbeat?, stallNanoseconds: Int64?
  ) {
    self.clock = clock
    self.interruption = interruption
    self.heartbeat = heartbeat
    self.stallNanoseconds = stallNanoseconds
  }

  /// Whether no job runs.
  var isEmpty: Bool { running.isEmpty }

  /// How often jobs must be looked after, in seconds.
  var everySeconds: Double { pulse.everySeconds }

  /// A job begins.
  mutating func start(_ stage: StageDefinition) -> RunningJob {
    running.start(
      stage, atSeconds: clock.monotonicSeconds(), stall: stallNanoseconds,
      abort: interruption.abort)
  }

  /// A job has ended; what it was, with its memory.
  @discardableResult
  mutating func end(_ name: String) -> RunningJob? { running.end(name) }

  /// Notes what the process has in memory, and looks after limits when it is time: by the clock, since many messages
  /// must not keep a stage from its time-out.
  ///
  /// - Parameter stages: those of the run, in the order in which they are told about.
  mutating func look(_ stages: [StageDefinition], _ events: StageEvents) {
    if let bytes = MemoryWatch.resident()?.bytes { running.note(memoryBytes: bytes) }
    guard pulse.isDue(atSeconds: clock.monotonicSeconds()) else { return }
    // Between stages, and before another attempt, nothing is to be seen and nothing is wrong.
    if running.isEmpty || running.isWaiting {
      heartbeat?.wait()
    } else {
      heartbeat?.beat(running.signsOfLife &+ Digest.piecesDigested)
    }
    let stopped = running.stopOverdue(
      digested: Digest.piecesDigested, atSeconds: clock.monotonicSeconds())
    for stage in stages {
      if let why = stopped[stage.name], stopping.insert(stage.name).inserted {
        events.stopping(stage, why)
      }
      if let job = running[stage.name] { events.progressed(stage, job.progress) }
    }
  }

  /// Asks those to stop that will not be done within the grace of an interrupt.
  func stopForInterrupt() {
    guard let left = interruption.secondsLeft(clock) else { return }
    running.interrupt(secondsLeft: left, atSeconds: clock.monotonicSeconds())
  }
}

/// Says when something that is to be done every so often is due: by the clock, however busy its owner is
/// otherwise. Pure.
struct Throttle {
  let everySeconds: Double
  private var lastSeconds: Double?

  init(everySeconds: Double) {
    self.everySeconds = everySeconds
  }

  /// Whether it is time, which begins the next interval; the first call only begins one.
  mutating func isDue(atSeconds now: Double) -> Bool {
    guard let last = lastSeconds else {
      lastSeconds = now
      return false
    }
    guard now - last >= everySeconds else { return false }
    lastSeconds = now
    return true
  }
}
