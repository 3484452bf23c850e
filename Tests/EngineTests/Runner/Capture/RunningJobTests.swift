import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What may end a running job before its time")
struct RunningJobTests {
  private static func stage(timeoutSeconds: Int64? = nil) -> StageDefinition {
    StageDefinition(
      name: "slow", kind: ToyColor.self, parameters: ParameterValues(defaultsOf: []),
      timeoutNanoseconds: timeoutSeconds.map { $0 * 1_000_000_000 })
  }

  @Test("A job past its own time-out is asked to stop, one without is not")
  func timeout() throws {
    var slow = RunningJob(Self.stage(timeoutSeconds: 10), atSeconds: 100, abort: Cancellation())
    var free = RunningJob(Self.stage(), atSeconds: 100, abort: Cancellation())
    #expect(slow.stopIfOverdue(atSeconds: 110) == nil)
    #expect(!slow.cancellation.isCancelled)
    #expect(slow.stopIfOverdue(atSeconds: 110.1) != nil)
    #expect(slow.cancellation.isCancelled && !slow.cancellation.isCancelledFromOutside)
    #expect(free.stopIfOverdue(atSeconds: 110.1) == nil)
    #expect(!free.cancellation.isCancelled)
    let error = #expect(throws: CancelledError.self) { try slow.cancellation.check() }
    #expect(error?.reason == "took longer than its timeout of 10s")
  }

  @Test("A job without a sign of life for too long is asked to stop; any sign puts that off")
  func stall() {
    var job = RunningJob(
      Self.stage(), atSeconds: 0, stall: 600_000_000_000, abort: Cancellation())
    func stopped(digested: Int = 0, atSeconds now: Double) -> String? {
      // The process of the tests may wait for a disk at any moment.
      job.stopIfOverdue(digested: digested, atSeconds: now, waitsForDisk: { false })
    }
    #expect(stopped(atSeconds: 600) == nil)
    job.progress.advance()
    #expect(stopped(atSeconds: 610) == nil)
    job.progress.showLife()
    #expect(stopped(atSeconds: 1200) == nil)
    // What the process digests, that it reads or writes, is a sign of life as well.
    #expect(stopped(digested: 7, atSeconds: 1790) == nil)
    #expect(stopped(digested: 7, atSeconds: 2390) == nil)
    #expect(stopped(digested: 7, atSeconds: 2391) == "stalled: no progress for 10m")
    #expect(job.cancellation.isCancelled && !job.cancellation.isCancelledFromOutside)
  }

  @Test("Who waits for a core that others have, or for a disk, does not stall; a disk has an hour")
  func waiting() {
    let stall: Int64 = 600_000_000_000
    var job = RunningJob(Self.stage(), atSeconds: 0, stall: stall, abort: Cancellation())
    job.progress.follow { true }
    for minute in 1...100 {
      #expect(job.stopIfOverdue(atSeconds: Double(minute) * 60, waitsForDisk: { false }) == nil)
    }
    job.progress.follow { false }
    var end: Int?
    for minute in 101...300 where end == nil {
      let stopped = job.stopIfOverdue(atSeconds: Double(minute) * 60, waitsForDisk: { true })
      if stopped != nil { end = minute }
    }
    // An hour more than the ten minutes.
    #expect(end.map { (168...173).contains($0) } == true, "\(end ?? 0)")
  }

  @Test(
    "An interrupt lets those end that will be done within the grace at their present rate",
    arguments: [
      (done: 50, total: 100, left: 10.0, goesOn: true), (50, 100, 9.0, false), (0, 100, 99, false),
      (50, 0, 99, false), (100, 100, 0, false), (100, 100, 1, true),
    ])
  func grace(done: Int, total: Int, left: Double, goesOn: Bool) {
    let job = RunningJob(Self.stage(), atSeconds: 100, abort: Cancellation())
    job.progress.expect(total)
    job.progress.advance(by: done)
    job.interrupt(secondsLeft: left, atSeconds: 110)
    #expect(job.cancellation.isCancelledFromOutside != goesOn)
  }

  @Test("The most memory that was seen while a job ran is its own")
  func memory() {
    var (first, second) = (
      RunningJob(Self.stage(), atSeconds: 0, abort: Cancellation()),
      RunningJob(Self.stage(), atSeconds: 0, abort: Cancellation())
    )
    first.note(memoryBytes: 5)
    first.note(memoryBytes: 3)
    second.note(memoryBytes: 3)
    #expect(first.peakMemoryBytes == 5 && second.peakMemoryBytes == 3)
  }

  @Test("What is to be done every so often is due by the clock, however often it is asked for")
  func pulse() {
    var pulse = Throttle(everySeconds: 0.25)
    let due = [10, 10.1, 10.2, 10.25, 10.3, 10.5, 12, 12.1].filter { pulse.isDue(atSeconds: $0) }
    #expect(due == [10.25, 10.5, 12])
  }
}

@Suite("What is told of the stages of a capture")
struct StageEventsTests {
  @Test("Events go to all who listen; a stage that was started has them in its log, progress not")
  func log() throws {
    let folder = try TemporaryFolder()
    let sink = EventLog()
    var events = StageEvents(
      sink: sink, clock: .system, layout: OutputLayout(root: folder.path, name: "scan"),
      run: "run-1")
    let stage = StageDefinition(
      name: "color", kind: ToyColor.self, parameters: ParameterValues(defaultsOf: []))
    let progress = StageProgress()
    events.send(.planned, stage) { $0.action = .run }
    let path = events.log(of: "color").path
    #expect(!FileSystem.exists(path))
    events.send(.started, stage) { $0.reason = .forced }
    // Nothing is done yet: nothing to tell.
    events.progressed(stage, progress)
    progress.expect(9)
    progress.advance(by: 4)
    events.progressed(stage, progress)
    events.send(.retried, stage) { $0.message = "no answer" }
    var result = JobResult(report: StageReport(stage: "color", uses: "toy-color", outcome: .made))
    result.report.frames = 9
    events.ended(stage, result)
    #expect(
      sink.all.map(\.kind) == [.planned, .started, .progress, .retried, .finished])
    #expect(sink.all.allSatisfy { $0.capture == "scan" && $0.uses == "toy-color" })
    #expect(sink.all[2].frames == 4 && sink.all[2].totalFrames == 9)
    let lines = (Text.read(path) ?? "").split(separator: "\n").map {
      $0.split(separator: " ").dropFirst().joined(separator: " ")
    }
    #expect(
      lines == [
        "started uses=toy-color reason=forced", "retried uses=toy-color message=\"no answer\"",
        "finished uses=toy-color outcome=made frames=9",
      ])
  }
}

@Suite("A worker says that it gets on")
struct HeartbeatTests {
  /// A clock that is set by hand, and what was said.
  private final class Bench: Sendable {
    let seconds = Mutex(0.0)
    let told = Mutex<[Int]>([])

    var heartbeat: Heartbeat {
      let clock = RunClock(wallText: { "" }, monotonicSeconds: { self.seconds.withLock { $0 } })
      return Heartbeat(clock: clock) { signs in self.told.withLock { $0.append(signs) } }
    }

    func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
    var count: Int { told.withLock(\.count) }
  }

  @Test("Only when something has gone on since, and not more often than twice a second")
  func beat() {
    let bench = Bench()
    let heartbeat = bench.heartbeat
    for _ in 0..<100 {
      bench.pass(0.25)
      heartbeat.beat(7)
    }
    #expect(bench.count == 1)
    for signs in 8..<48 {
      bench.pass(0.25)
      heartbeat.beat(signs)
    }
    #expect(bench.count == 21)
  }

  @Test("A wait that is in order is told each time anew")
  func waiting() {
    let bench = Bench()
    let heartbeat = bench.heartbeat
    for number in 1...10 {
      bench.pass(1)
      heartbeat.wait()
      #expect(bench.count == number)
    }
    // What was done meanwhile is no less than before.
    bench.pass(1)
    heartbeat.beat(3)
    #expect(bench.count == 11)
  }
}

@Suite("The report of a capture whose worker is gone")
struct PartialReportTests {
  private static let target = CaptureTarget(
    recognition: Recognition(
      family: .scannet, certainty: .certain, folder: "/in/scan", id: "scan", reason: ""),
    layout: OutputLayout(root: "/out", name: "scan"))

  private static func event(
    _ kind: RunEvent.Kind, _ stage: String, _ change: (inout RunEvent) -> Void = { _ in }
  ) -> RunEvent {
    var event = RunEvent(kind: kind, time: "", capture: "scan", stage: stage)
    event.uses = "toy"
    change(&event)
    return event
  }

  private static func partialReport() -> PartialReport {
    var partialReport = PartialReport()
    for stage in ["color", "depth", "aligned", "tables"] {
      partialReport.hear(event(.planned, stage))
    }
    partialReport.hear(event(.started, "color"))
    partialReport.hear(event(.started, "depth"))
    partialReport.hear(event(.progress, "depth"))
    partialReport.hear(
      event(.finished, "color") {
        $0.outcome = .made
        $0.frames = 10
        $0.seconds = 2
        $0.warnings = [CaptureWarning(.frameGap, "color", count: 1, "a gap")]
      })
    return partialReport
  }

  @Test("What had ended stays as it was; what ran has failed, what had not started never will")
  func crash() {
    let report = Self.partialReport().report(
      of: Self.target, Failure(message: "crashed", cause: .program), isInterrupted: false)
    #expect(report.outcome == .failed && report.why.cause == .program)
    #expect(report.stages[1].why.cause == .program && report.stages[0].why.cause == nil)
    #expect(
      report.stages.map { "\($0.stage) \($0.outcome.rawValue) \($0.why.message ?? "-")" } == [
        "color made -", "depth failed crashed", "aligned interrupted not started",
        "tables interrupted not started",
      ])
    #expect(report.stages.first?.framesPerSecond == 5)
    #expect(report.warnings.map(\.code) == [.frameGap])
    // The stage says it.
    #expect(report.why.message == nil)
  }

  @Test("Killed after an interrupt, what ran was stopped and has not failed")
  func interrupt() {
    let report = Self.partialReport().report(
      of: Self.target, Failure(message: "killed", cause: .program), isInterrupted: true)
    #expect(report.stages[1].outcome == .interrupted)
    #expect(report.outcome == .interrupted && report.why.cause == nil)
  }

  @Test("A worker that ended before its first stage fails its capture with the reason")
  func early() {
    let report = PartialReport().report(
      of: Self.target, Failure(message: "crashed", cause: .program), isInterrupted: false)
    #expect(report.outcome == .failed && report.why.message == "crashed" && report.stages.isEmpty)
  }
}
