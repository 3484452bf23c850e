@testable import Engine
import Testing

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
