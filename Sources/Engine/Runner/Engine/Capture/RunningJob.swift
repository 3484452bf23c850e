import Captures
import Core
import Glibc

/// A job on its thread, as the one who started it sees it, and what may end it before its time: its own limits and an
/// interrupt.
struct RunningJob {
  let progress = StageProgress()
  /// Cancelled when the run is interrupted.
  private let interrupt: Cancellation
  /// Cancelled also when the job has run out of its own time.
  let cancellation: Cancellation
  /// The start on the monotonic clock.
  private let startedSeconds: Double
  private let timeoutNanoseconds: Int64?
  /// How long it may show no sign of life.
  private let stallNanoseconds: Int64?
  /// The last sign of life, and when it was seen.
  private var sign: [Int] = []
  private var signSeconds: Double
  /// How long the clock of the last sign was held back because a disk was waited for.
  private var diskSeconds = 0.0
  /// The most that the process had in memory when looked at while the job ran.
  private(set) var peakMemoryBytes: Int64 = 0

  /// - Parameter stall: how long a stage without a word of its own may show no sign of life, in nanoseconds; `nil`: for
  ///   ever.
  init(
    _ stage: StageDefinition, atSeconds now: Double, stall: Int64? = nil, abort: Cancellation
  ) {
    interrupt = Cancellation(parent: abort)
    cancellation = Cancellation(parent: interrupt)
    startedSeconds = now
    signSeconds = now
    timeoutNanoseconds = stage.timeoutNanoseconds
    stallNanoseconds = stage.stallNanoseconds ?? stall
  }

  mutating func note(memoryBytes: Int64) { peakMemoryBytes = max(peakMemoryBytes, memoryBytes) }

  /// Asks it to stop unless, at its rate so far, it will be done within what is left of the grace of an interrupt.
  func interrupt(secondsLeft left: Double, atSeconds now: Double) {
    let (done, total) = (progress.done, progress.total)
    if left > 0, done > 0, total >= done,
      (now - startedSeconds) * Double(total - done) / Double(done) <= left
    {
      return
    }
    interrupt.cancel("interrupted")
  }

  /// At most so long a wait for a disk is no stall.
  private static let diskPatienceSeconds = 3600.0

  /// Asks it to stop when it has reached a limit of its own. Returns which, whether it was asked now or before.
  ///
  /// - Parameters:
  ///   - digested: a number that grows while the process reads and writes.
  ///   - waitsForDisk: whether a thread of the process does now.
  mutating func stopIfOverdue(
    digested: Int = 0, atSeconds now: Double,
    waitsForDisk: () -> Bool = { ProcessSigns(of: getpid())?.waitsForDisk ?? false }
  ) -> String? {
    look(digested: digested, atSeconds: now, waitsForDisk: waitsForDisk)
    guard let reason = reasonToStop(atSeconds: now) else { return nil }
    cancellation.cancel(reason.why, limit: reason.limit)
    return reason.why
  }

  /// Looks for signs of life: frames, output and use of the processor of a program, and anything that
  /// the process has digested. Who waits for a core that others have, or for a disk to take what was written, is not
  /// to blame.
  ///
  /// - Parameter waitsForDisk: whether a thread of the process does so now; asked only when time runs short.
  private mutating func look(digested: Int, atSeconds now: Double, waitsForDisk: () -> Bool) {
    let found = [progress.signsOfLife, digested]
    if found != sign || progress.isWaiting {
      sign = found
      signSeconds = now
      return
    }
    guard let limit = stallNanoseconds else { return }
    let rest = now - Double(limit) / 1e9 * 0.9
    guard rest > signSeconds, diskSeconds < Self.diskPatienceSeconds, waitsForDisk() else { return }
    diskSeconds += rest - signSeconds
    signSeconds = rest
  }

  /// Why it must not go on; `nil` while it may.
  private func reasonToStop(atSeconds now: Double) -> (why: String, limit: FailureDetail.Code)? {
    if let limit = stallNanoseconds, now > signSeconds + Double(limit) / 1e9 {
      return ("stalled: no progress for \(DurationSyntax.text(nanoseconds: limit))", .stalled)
    }
    guard let limit = timeoutNanoseconds, now > startedSeconds + Double(limit) / 1e9 else {
      return nil
    }
    return (
      "took longer than its timeout of \(DurationSyntax.text(nanoseconds: limit))", .outOfTime
    )
  }
}

/// Which failed jobs are tried again, how often and when. Pure.
///
/// Each attempt waits twice as long as the one before it: what was short or did not answer has time to
/// come back, and nothing is asked without pause.
struct JobRetries {
  /// The first wait, and the longest.
  static let firstSeconds = 0.5
  static let mostSeconds = 30.0

  /// Attempts beyond the first that every job has.
  let allowed: Int
  /// Attempts that failed, by job.
  private(set) var failures: [String: Int] = [:]
  /// When each waiting job is to start, on the monotonic clock.
  private(set) var due: [String: Double] = [:]

  /// Whether nothing waits.
  var isEmpty: Bool { due.isEmpty }

  /// Takes note of a failure that may pass, and puts the job on the list unless all its attempts are
  /// used up.
  ///
  /// - Parameter own: the attempts that the job's own stage allows; the larger number counts.
  /// - Returns: how many seconds from now it will start; `nil`: it has failed for good.
  mutating func again(_ name: String, own: Int, atSeconds now: Double) -> Double? {
    failures[name, default: 0] += 1
    let count = failures[name] ?? 1
    guard count <= max(own, allowed) else { return nil }
    // More doublings than that are beyond the longest wait.
    let seconds = min(Self.firstSeconds * Double(1 << min(count - 1, 16)), Self.mostSeconds)
    due[name] = now + seconds
    return seconds
  }

  /// Puts a job on the list without counting a failure: it waits for what others of the capture hold.
  mutating func hold(_ name: String, atSeconds now: Double) { due[name] = now + Self.firstSeconds }

  /// Takes those off the list whose time has come, in alphabetical order.
  mutating func takeDue(atSeconds now: Double) -> [String] {
    let ready = due.filter { $0.value <= now }.map(\.key).sorted()
    for name in ready { due[name] = nil }
    return ready
  }

  /// Takes all off the list.
  mutating func takeAll() -> [String] {
    defer { due = [:] }
    return due.keys.sorted()
  }

  /// How long until the next one is due; `nil` when none waits.
  func secondsToNext(atSeconds now: Double) -> Double? {
    due.values.min().map { max(0, $0 - now) }
  }
}

/// Failed jobs of a capture that wait to be started again: those whose failure may pass, and those for which threads,
/// processes, descriptors or memory were short. Pure.
struct RetryQueue {
  private var retries: JobRetries
  /// About eight seconds of patience, as long as nothing else of the capture runs that may give some back.
  private var short = JobRetries(allowed: 4)
  /// Jobs for which something was short before.
  private var wereShort: Set<String> = []

  /// - Parameter allowed: attempts beyond the first that every job has.
  init(allowed: Int) { retries = JobRetries(allowed: allowed) }

  /// Whether nothing waits.
  var isEmpty: Bool { retries.isEmpty && short.isEmpty }

  /// Puts a failed job on the list, unless its failure cannot pass or all its attempts are used up.
  ///
  /// - Parameters:
  ///   - own: the attempts that the job's own stage allows.
  ///   - beside: other jobs of the capture that run. Where none of them could give something back, which those cannot
  ///     that were short themselves, a shortage counts as an attempt.
  /// - Returns: whether it will be started again.
  mutating func add(
    _ name: String, _ failure: Failure, own: Int, beside others: some Sequence<String>,
    atSeconds now: Double
  ) -> Bool {
    guard failure.isShortage else {
      return failure.mayPass && retries.again(name, own: own, atSeconds: now) != nil
    }
    wereShort.insert(name)
    if wereShort.isSuperset(of: others) { return short.again(name, own: 0, atSeconds: now) != nil }
    short.hold(name, atSeconds: now)
    return true
  }

  /// Takes those off the list whose time has come.
  mutating func takeDue(atSeconds now: Double) -> [String] {
    retries.takeDue(atSeconds: now) + short.takeDue(atSeconds: now)
  }

  /// Takes all off the list.
  mutating func takeAll() -> [String] { retries.takeAll() + short.takeAll() }

  /// How long until the next one is due; `nil` when none waits.
  func secondsToNext(atSeconds now: Double) -> Double? {
    [retries, short].compactMap { $0.secondsToNext(atSeconds: now) }.min()
  }
}

/// Tells what happens to the stages of one capture: to all who listen, and to the log of the stage once
/// it has one.
struct StageEvents {
  let sink: any EventSink
  let clock: RunClock
  let layout: OutputLayout
  let run: String
  /// Logs of stages that had work to do.
  private(set) var logs: [String: LogFile] = [:]

  /// The log of a stage in this run; made when its first line comes.
  mutating func log(of stage: String) -> LogFile {
    if let log = logs[stage] { return log }
    let log = LogFile(
      OutputLayout.log(of: stage, capture: layout.name, run: run, in: layout.root),
      below: layout.root)
    logs[stage] = log
    return log
  }

  func progressed(_ stage: StageDefinition, _ progress: StageProgress) {
    let (done, total) = (progress.done, progress.total)
    guard done > 0 else { return }
    send(.progress, stage) {
      $0.frames = done
      $0.totalFrames = total > 0 ? total : nil
    }
  }

  func ended(_ stage: StageDefinition, _ result: JobResult) {
    send(result.report.outcome == .blocked ? .blocked : .finished, stage) {
      $0.outcome = result.report.outcome
      $0.reason = result.report.reason
      $0.why = result.report.why
      $0.seconds = result.report.seconds
      $0.frames = result.report.frames
      $0.warnings = result.warnings.isEmpty ? nil : result.warnings
    }
  }

  func send(
    _ kind: RunEvent.Kind, _ stage: StageDefinition, _ fill: (inout RunEvent) -> Void
  ) {
    var event = RunEvent(
      kind: kind, time: clock.wallText(), capture: layout.name, stage: stage.name)
    event.uses = stage.kind.name
    fill(&event)
    sink.send(event)
    // Progress comes often and is said by the next one.
    if kind != .progress { logs[stage.name]?.write(Self.line(event)) }
  }

  /// An event as a line of a job's log: time, kind, then `key=value`; a view of the same events as `events.jsonl`.
  private static func line(_ event: RunEvent) -> String {
    var parts = [event.time, event.kind.rawValue]
    func add(_ key: String, _ value: String?) {
      if let value { parts.append("\(key)=\(quoted(value))") }
    }
    add("uses", event.uses)
    add("outcome", event.outcome?.rawValue)
    add("reason", event.reason?.rawValue)
    add("cause", event.cause?.rawValue)
    add("detail", event.detail?.code.rawValue)
    add("seconds", event.seconds.map { "\($0)" })
    add("frames", event.frames.map { "\($0)" })
    add("totalFrames", event.totalFrames.map { "\($0)" })
    add("message", event.message)
    for warning in event.warnings ?? [] {
      add(
        "\(warning.severity.rawValue).\(warning.code.rawValue).\(warning.subject)",
        "\(warning.count)")
    }
    return parts.joined(separator: " ")
  }

  private static func quoted(_ text: String) -> String {
    guard text.isEmpty || text.contains(where: { " \"=\n".contains($0) }) else { return text }
    return "\"" + text.map { $0 == "\"" ? "\\\"" : $0 == "\n" ? "\\n" : String($0) }.joined() + "\""
  }
}
