import Core

#if canImport(Glibc)
  import Glibc
#endif

/// The jobs of one capture that are on their threads now, and what may end them before their time: their
/// own limits and an interrupt.
struct RunningJobs {
  private var jobs: [String: RunningJob] = [:]

  var isEmpty: Bool { jobs.isEmpty }

  /// Another number whenever something has gone on in one of them.
  var signsOfLife: Int { jobs.values.reduce(jobs.count) { $0 &+ $1.progress.signsOfLife } }

  /// Whether one of them waits for cores that others have.
  var isWaiting: Bool { jobs.values.contains { $0.progress.isWaiting } }

  subscript(name: String) -> RunningJob? { jobs[name] }

  /// - Parameter stall: how long a stage without a word of its own may show no sign of life, in
  ///   nanoseconds.
  mutating func start(
    _ stage: StageDefinition, atSeconds now: Double, stall: Int64? = nil, abort: Cancellation
  ) -> RunningJob {
    let job = RunningJob(
      startedSeconds: now, timeoutNanoseconds: stage.timeoutNanoseconds,
      stallNanoseconds: stage.stallNanoseconds ?? stall, abort: abort)
    jobs[stage.name] = job
    return job
  }

  /// Takes a job that has ended off the list.
  @discardableResult
  mutating func end(_ name: String) -> RunningJob? { jobs.removeValue(forKey: name) }

  /// Notes for each what the whole process has in memory.
  mutating func note(memoryBytes: Int64) {
    for name in jobs.keys { jobs[name]?.note(memoryBytes: memoryBytes) }
  }

  /// Asks those to stop that have reached a limit of their own.
  ///
  /// - Parameters:
  ///   - digested: a number that grows while the process reads and writes.
  ///   - waitsForDisk: whether a thread of the process does now.
  /// - Returns: the names of all that were asked, by now or before.
  mutating func stopOverdue(
    digested: Int = 0, atSeconds now: Double,
    waitsForDisk: () -> Bool = { ProcessSigns(of: getpid())?.waitsForDisk ?? false }
  ) -> [String: String] {
    var stopped: [String: String] = [:]
    for name in jobs.keys.sorted() {
      jobs[name]?.look(digested: digested, atSeconds: now, waitsForDisk: waitsForDisk)
      guard let job = jobs[name], let why = job.reasonToStop(atSeconds: now) else { continue }
      job.cancellation.cancel(why)
      stopped[name] = why
    }
    return stopped
  }

  /// Asks those to stop that will not be done within what is left of the grace of an interrupt.
  func interrupt(secondsLeft left: Double, atSeconds now: Double) {
    for job in jobs.values {
      if let needed = job.secondsLeft(atSeconds: now), left > 0, needed <= left { continue }
      job.interrupt.cancel("interrupted")
    }
  }
}
