@testable import Engine
import Testing

@Suite("What may end a running job before its time")
struct RunningJobsTests {
  private static func stage(_ name: String, timeoutSeconds: Int64? = nil) -> StageDefinition {
    StageDefinition(
      name: name, kind: ToyColor.self, parameters: ParameterValues(defaultsOf: []),
      timeoutNanoseconds: timeoutSeconds.map { $0 * 1_000_000_000 })
  }

  @Test("A job past its own time-out is asked to stop, its neighbor is not")
  func timeout() throws {
    var running = RunningJobs()
    let slow = running.start(
      Self.stage("slow", timeoutSeconds: 10), atSeconds: 100, abort: Cancellation())
    let free = running.start(Self.stage("free"), atSeconds: 100, abort: Cancellation())
    _ = running.stopOverdue(atSeconds: 110)
    #expect(!slow.cancellation.isCancelled)
    _ = running.stopOverdue(atSeconds: 110.1)
    #expect(slow.cancellation.isCancelled && !slow.cancellation.isCancelledFromOutside)
    #expect(!free.cancellation.isCancelled)
    let error = #expect(throws: CancelledError.self) { try slow.cancellation.check() }
    #expect(error?.reason == "took longer than its timeout of 10s")
  }

  @Test("A job without a sign of life for too long is asked to stop; any sign puts that off")
  func stall() {
    var running = RunningJobs()
    func stopped(digested: Int = 0, atSeconds now: Double) -> [String: String] {
      // The process of the tests may wait for a disk at any moment.
      running.stopOverdue(digested: digested, atSeconds: now, waitsForDisk: { false })
    }
    let job = running.start(
      Self.stage("slow"), atSeconds: 0, stall: 600_000_000_000, abort: Cancellation())
    #expect(stopped(atSeconds: 600) == [:])
    job.progress.advance()
    #expect(stopped(atSeconds: 610) == [:])
    job.progress.showLife()
    #expect(stopped(atSeconds: 1200) == [:])
    // What the process digests, that it reads or writes, is a sign of life as well.
    #expect(stopped(digested: 7, atSeconds: 1790) == [:])
    #expect(stopped(digested: 7, atSeconds: 2390) == [:])
    #expect(
      stopped(digested: 7, atSeconds: 2391) == ["slow": "stalled: no progress for 10m"])
    #expect(job.cancellation.isCancelled && !job.cancellation.isCancelledFromOutside)
  }

  @Test("Who waits for a core that others have, or for a disk, does not stall; a disk has an hour")
  func waiting() {
    var running = RunningJobs()
    let stall: Int64 = 600_000_000_000
    let job = running.start(Self.stage("slow"), atSeconds: 0, stall: stall, abort: Cancellation())
    job.progress.follow { true }
    for minute in 1...100 {
      #expect(
        running.stopOverdue(atSeconds: Double(minute) * 60, waitsForDisk: { false }) == [:])
    }
    job.progress.follow { false }
    var end: Int?
    for minute in 101...300 where end == nil {
      let stopped = running.stopOverdue(atSeconds: Double(minute) * 60, waitsForDisk: { true })
      if !stopped.isEmpty { end = minute }
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
    var running = RunningJobs()
    let job = running.start(Self.stage("color"), atSeconds: 100, abort: Cancellation())
    job.progress.expect(total)
    job.progress.advance(by: done)
    running.interrupt(secondsLeft: left, atSeconds: 110)
    #expect(job.cancellation.isCancelledFromOutside != goesOn)
  }

  @Test("The most memory that was seen while a job ran is its own")
  func memory() {
    var running = RunningJobs()
    _ = running.start(Self.stage("a"), atSeconds: 0, abort: Cancellation())
    running.note(memoryBytes: 5)
    _ = running.start(Self.stage("b"), atSeconds: 0, abort: Cancellation())
    running.note(memoryBytes: 3)
    #expect(running.end("a")?.peakMemoryBytes == 5)
    #expect(running.end("b")?.peakMemoryBytes == 3)
    #expect(running.isEmpty && running.end("a") == nil)
  }

  @Test("What is to be done every so often is due by the clock, however often it is asked for")
  func pulse() {
    var pulse = Throttle(everySeconds: 0.25)
    let due = [10, 10.1, 10.2, 10.25, 10.3, 10.5, 12, 12.1].filter { pulse.isDue(atSeconds: $0) }
    #expect(due == [10.25, 10.5, 12])
  }
}
