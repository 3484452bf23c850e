import TestSupport
import Testing

@testable import Engine

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

/// Drives a scheduler over a random graph with an executor that fails, finds work done, and asks for
/// removed intermediates; checks the rules at every step.
private struct RandomRun {
  var random: SeededGenerator
  let stages: [StageDefinition]
  var scheduler: Scheduler
  var running: [String] = []
  /// How often each job has been told to have ended.
  var ends: [String: Int] = [:]
  var isCancelled = false

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var stages: [StageDefinition] = []
    for number in 0..<Int.random(in: 1...14, using: &random) {
      var inputs: [PortBinding] = []
      for (port, earlier) in stages.enumerated() where random.chance(3) {
        inputs.append(
          PortBinding(port: "\(port)", stage: earlier.name, isOptional: random.chance(3)))
      }
      stages.append(
        StageDefinition(
          name: "s\(number)", kind: MakeColor.self, parameters: ParameterValues(defaultsOf: []),
          inputs: inputs))
    }
    let dormant = stages.map(\.name).filter { _ in random.chance(4) }
    self.random = random
    self.stages = stages
    scheduler = Scheduler(stages, dormant: Set(dormant))
  }

  mutating func run() {
    var steps = 0
    while !scheduler.isDone {
      steps += 1
      guard steps < 1_000 else {
        Issue.record("no end in sight")
        return
      }
      if isCancelled { note(scheduler.cancelWaiting()) }
      for name in scheduler.start() {
        checkStart(name)
        running.append(name)
      }
      guard !running.isEmpty else {
        #expect(scheduler.isDone, "nothing runs, nothing starts, and it is not done")
        return
      }
      step()
      if random.chance(60) { isCancelled = true }
    }
    checkEnd()
  }

  /// One running job goes on.
  private mutating func step() {
    let name = running.remove(at: Int.random(in: 0..<running.count, using: &random))
    let asleep = inputs(of: name).filter { scheduler.states[$0.stage] == .dormant }.map(\.stage)
    if !asleep.isEmpty, random.chance(2) {
      if let stopped = scheduler.demand(asleep, for: name) {
        note(stopped.map(\.job))
      } else {
        Issue.record("a dormant input was not woken")
      }
      return
    }
    if random.chance(12), ends[name] == nil {
      scheduler.rest(name)
      return
    }
    let outcome =
      [.made, .made, .made, .upToDate, .upToDate, .failed, .notPossible, .interrupted]
      .randomElement(using: &random) ?? RunOutcome.made
    note([name] + scheduler.finish(name, outcome).map(\.job))
    #expect(scheduler.outcome(of: name) == outcome)
  }

  private func inputs(of name: String) -> [PortBinding] {
    stages.first { $0.name == name }?.inputs ?? []
  }

  /// No job before its inputs, none behind a required one that ended badly.
  private func checkStart(_ name: String) {
    for input in inputs(of: name) {
      switch scheduler.states[input.stage] {
      case .dormant: break
      case .ended(let outcome): #expect(outcome.isDone || input.isOptional)
      case .waiting, .running, nil: Issue.record("\(name) started before \(input.stage) had ended")
      }
    }
  }

  private mutating func note(_ names: [String]) {
    for name in names { ends[name, default: 0] += 1 }
  }

  /// Every job has ended once, in one state, or sleeps.
  private func checkEnd() {
    for stage in stages {
      switch scheduler.states[stage.name] {
      case .ended: #expect(ends[stage.name] == 1)
      case .dormant: #expect(ends[stage.name] == nil)
      case .waiting, .running, nil: Issue.record("\(stage.name) has not ended")
      }
    }
    #expect(Set(scheduler.states.keys) == Set(stages.map(\.name)))
  }
}

@Suite("Random schedules")
struct RandomScheduleTests {
  @Test("In every graph each job ends once, and none starts before its inputs", arguments: 0..<8)
  func graphs(block: Int) {
    for seed in 0..<250 {
      var run = RandomRun(seed: UInt64(block * 1_000 + seed))
      run.run()
    }
  }
}

@Suite("What the stages of a pipeline ask for together")
struct StageResourcesTests {
  static let text = """
    schema: 1
    stages:
      frames: {uses: make-frames, partOf: depth, resources: {cpus: 2, time: 1ms}}
      depth: {uses: export-depth, needs: [frames], resources: {cpus: 8, time: 10m}}
      color: {uses: make-color, resources: {time: 1h, memory: 1GB}}
      tables: {uses: make-tables, optional: [depth, color]}
    """

  static let cases: [(selected: Set<String>, cpus: Int?, seconds: Int?)] = [
    (["depth", "frames"], 8, 601), (["color"], nil, 3600), (["frames", "color"], 2, 3601),
    // One of them says nothing.
    (["depth", "frames", "color", "tables"], 8, nil), (["tables"], nil, nil), ([], nil, nil),
    (["frames", "nobody"], 2, 1),
  ]

  @Test("The largest number of cores; the sum of times where each says one", arguments: cases)
  func together(selected: Set<String>, cpus: Int?, seconds: Int?) throws {
    let asked = try pipeline(Self.text).resources(of: selected)
    #expect(asked.cpus == cpus)
    #expect(asked.timeSeconds == seconds)
  }

  @Test("A year is the longest time, and rounding up does not pass it")
  func longest() throws {
    for (time, seconds) in [("8760h", 31_536_000), ("1ns", 1), ("31535999.5s", 31_536_000)] {
      let text = "schema: 1\nstages: {a: {uses: make-color, resources: {time: \(time)}}}"
      #expect(try pipeline(text).resources(of: ["a"]).timeSeconds == seconds)
    }
  }
}
