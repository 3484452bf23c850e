@testable import Engine
import TestSupport
import Testing

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
