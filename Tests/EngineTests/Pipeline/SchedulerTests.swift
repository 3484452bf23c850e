@testable import Engine
import Testing

@Suite("The scheduler")
struct SchedulerTests {
  static func scheduler(_ dormant: String...) throws -> Scheduler {
    Scheduler(try pipeline(usualPipeline).stages, dormant: Set(dormant))
  }

  @Test("Jobs start when their inputs have ended")
  func order() throws {
    var scheduler = try Self.scheduler()
    #expect(scheduler.start() == ["color", "frames"])
    #expect(scheduler.start() == [])
    #expect(scheduler.finish("color", .made) == [])
    #expect(scheduler.start() == [])
    #expect(scheduler.finish("frames", .upToDate) == [])
    #expect(scheduler.start() == ["depth", "aligned"])
    #expect(scheduler.finish("depth", .made) == [])
    #expect(!scheduler.isDone)
    #expect(scheduler.finish("aligned", .made) == [])
    #expect(scheduler.start() == ["tables"])
    #expect(!scheduler.isDone)
    #expect(scheduler.finish("tables", .made) == [])
    #expect(scheduler.isDone)
  }

  @Test(
    "Behind a required input that ended badly jobs end too; an optional one stops nobody",
    arguments: [
      (RunOutcome.failed, RunOutcome.blocked), (.blocked, .blocked), (.interrupted, .interrupted),
      (.notPossible, .notPossible),
    ])
  func blocked(end: RunOutcome, behind: RunOutcome) throws {
    var scheduler = try Self.scheduler()
    _ = scheduler.start()
    _ = scheduler.finish("color", .made)
    let stopped = scheduler.finish("frames", end)
    #expect(stopped.map(\.job) == ["depth", "aligned"])
    #expect(stopped.map(\.because) == ["frames", "frames"])
    #expect(scheduler.outcome(of: "aligned") == behind)
    #expect(scheduler.start() == ["tables"])
    _ = scheduler.finish("tables", .made)
    #expect(scheduler.isDone)
  }

  @Test("A dormant intermediate lets its readers go, and runs once one demands it")
  func dormant() throws {
    var scheduler = try Self.scheduler("frames")
    #expect(scheduler.start() == ["color", "depth", "aligned"])
    _ = scheduler.finish("color", .upToDate)
    #expect(scheduler.demand(["frames"], for: "aligned") == [])
    #expect(scheduler.start() == ["frames"])
    #expect(scheduler.demand(["frames"], for: "depth") == [])
    #expect(scheduler.start() == [])
    _ = scheduler.finish("frames", .made)
    #expect(scheduler.start() == ["depth", "aligned"])
    #expect(scheduler.demand(["frames"], for: "depth") == nil)
    #expect(scheduler.states["depth"] == .running)
  }

  @Test("A demand for an intermediate that has failed meanwhile stops the reader")
  func demandOfFailed() throws {
    var scheduler = try Self.scheduler("frames")
    _ = scheduler.start()
    #expect(scheduler.demand(["frames"], for: "aligned") == [])
    #expect(scheduler.start() == ["frames"])
    #expect(scheduler.finish("frames", .failed).map(\.job) == ["aligned"])
    #expect(scheduler.states["depth"] == .running)
    #expect(scheduler.demand(["frames"], for: "depth")?.map(\.job) == ["depth"])
    #expect(scheduler.outcome(of: "depth") == .blocked)
  }

  @Test("A started job that proves up to date and removed sleeps until it is demanded")
  func rest() throws {
    var scheduler = try Self.scheduler()
    #expect(scheduler.start() == ["color", "frames"])
    scheduler.rest("frames")
    #expect(scheduler.start() == ["depth", "aligned"])
    #expect(scheduler.demand(["frames"], for: "depth") == [])
    #expect(scheduler.start() == ["frames"])
    _ = scheduler.finish("frames", .made)
    #expect(scheduler.start() == ["depth"])
  }

  @Test("Without a demand dormant jobs do not run: the run is done")
  func undisturbed() throws {
    var scheduler = try Self.scheduler("frames")
    for name in scheduler.start() { _ = scheduler.finish(name, .upToDate) }
    for name in scheduler.start() { _ = scheduler.finish(name, .upToDate) }
    #expect(scheduler.isDone)
    #expect(scheduler.states["frames"] == .dormant)
    #expect(scheduler.outcome(of: "frames") == nil)
  }

  @Test("Cancelling ends what waits; what runs ends by itself")
  func cancel() throws {
    var scheduler = try Self.scheduler()
    _ = scheduler.start()
    #expect(scheduler.cancelWaiting() == ["depth", "aligned", "tables"])
    #expect(scheduler.start() == [])
    #expect(!scheduler.isDone)
    _ = scheduler.finish("color", .interrupted)
    _ = scheduler.finish("frames", .made)
    #expect(scheduler.isDone)
    #expect(scheduler.outcome(of: "depth") == .interrupted)
  }

  @Test("Inputs out of the selection count as there")
  func outside() throws {
    let stages = try pipeline(usualPipeline).stages.filter { $0.name == "aligned" }
    var scheduler = Scheduler(stages)
    #expect(scheduler.start() == ["aligned"])
    #expect(scheduler.demand(["frames"], for: "aligned") == nil)
  }
}
