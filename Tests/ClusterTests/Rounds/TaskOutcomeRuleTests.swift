@testable import Captures
@testable import Engine
import Testing

@testable import Cluster

/// Every way in which an element ends, with and without results, at the first attempt and later.
@Suite("What is done about an element that has ended")
struct TaskOutcomeRuleTests {
  static let gigabyte: Int64 = 1 << 30
  static let judge = TaskOutcomeRule(
    RoundLimits(maxMemoryBytes: 4 * gigabyte, maxTimeSeconds: 7200))

  /// What the results say of the one capture of an element.
  enum Lines: String, CaseIterable {
    /// The element never began.
    case nothing
    /// It began, the capture did not.
    case begun
    /// The capture began, nothing of it was published.
    case working
    /// A stage was published.
    case published
    case done
    case failed
    /// Its own watch over memory ended the worker.
    case exceeded
    case locked
    case outOfTime
    case cancelled
    case refused
  }

  static func element(
    _ lines: Lines, _ view: TaskView?, over: Double? = 200, gone: Double? = nil,
    _ change: (inout CaptureHistory) -> Void = { _ in }
  ) -> ArrayTaskFacts {
    var history = CaptureHistory(memoryBytes: gigabyte, timeSeconds: 1800)
    change(&history)
    var capture = CaptureFacts(name: "a", history: history)
    var facts = ArrayTaskFacts(
      number: 7, task: TaskID(job: "123", index: 7),
      request: JobRequest(
        cores: 4, memoryBytes: history.memoryBytes, timeSeconds: history.timeSeconds),
      captures: [])
    if lines != .nothing {
      facts.begin = ArrayTaskBegin(
        element: 7, job: "123_7", host: "node3", cores: 4, memoryBytes: nil)
    }
    func outcome(_ outcome: RunOutcome, _ codes: Set<Int> = []) -> CaptureOutcome {
      CaptureOutcome(
        CaptureReport(id: "a", path: "/in/a", family: "scannet", outcome: outcome), codes: codes)
    }
    switch lines {
    case .nothing, .begun: break
    case .working: capture.began = true
    case .published, .outOfTime:
      capture.began = true
      capture.published = ["color"]
    case .done: capture.outcome = outcome(.made)
    case .failed: capture.outcome = outcome(.failed)
    case .exceeded:
      capture.outcome = outcome(.failed)
      capture.outcome?.exceededMemory = true
    case .locked: capture.outcome = outcome(.skipped, [ExitStatus.locked])
    case .cancelled: capture.began = true
    case .refused: break
    }
    switch lines {
    case .done, .failed, .exceeded, .locked: facts.end = ArrayTaskEnd(way: .done)
    case .outOfTime: facts.end = ArrayTaskEnd(way: .outOfTime, left: ["a"])
    case .cancelled: facts.end = ArrayTaskEnd(way: .cancelled, left: ["a"])
    case .refused: facts.end = ArrayTaskEnd(way: .refused, left: ["a"], message: "another build")
    default: break
    }
    facts.captures = [capture]
    facts.view = view
    facts.secondsOver = facts.end != nil || view.map({ !$0.state.isLive }) == true ? over : nil
    facts.secondsGone = gone
    return facts
  }

  /// What comes out, in a word.
  static func word(_ facts: ArrayTaskFacts) -> String {
    switch judge.decide(facts) {
    case .wait: return "wait"
    case .never: return "never"
    case .settle(let decisions, _):
      switch decisions["a"] {
      case .believe: return "believe"
      case .later: return "later"
      case .fail: return "fail"
      case .again(let history, _):
        let before = facts.captures[0].history
        if history.memoryBytes > before.memoryBytes {
          return "memory \(history.memoryBytes >> 30)" + (history.isAlone ? " alone" : "")
        }
        if history.timeSeconds > before.timeSeconds { return "time \(history.timeSeconds / 60)" }
        if history.lostOn.count > before.lostOn.count { return "elsewhere" }
        if history.breakdowns > before.breakdowns { return "once more" }
        return "again"
      case nil: return "nothing"
      }
    }
  }

  static let states: [(String, TaskView)] = [
    ("COMPLETED", TaskView(state: .completed, exitCode: 0, signal: 0)),
    ("OUT_OF_MEMORY", TaskView(state: .outOfMemory, exitCode: 0, signal: 125)),
    ("FAILED 0:9", TaskView(state: .failed, exitCode: 0, signal: 9)),
    ("TIMEOUT", TaskView(state: .timeout, exitCode: 0, signal: 0)),
    ("NODE_FAIL", TaskView(state: .lost("NODE_FAIL"), node: "node3")),
    ("PREEMPTED", TaskView(state: .lost("PREEMPTED"))),
    ("CANCELLED", TaskView(state: .cancelled, cancelledBy: "1000")),
    ("DEADLINE", TaskView(state: .deadline)),
    ("FAILED 1:0", TaskView(state: .failed, exitCode: 1, signal: 0)),
  ]

  /// What comes out for each kind of results: what is done is believed, what is locked is for later and what is refused is
  /// tried once more, whatever the state; all without an end have `unended`.
  private static func row(
    _ unended: String, failed: String = "believe", exceeded: String = "believe",
    _ others: [Lines: String] = [:]
  ) -> [Lines: String] {
    var row: [Lines: String] = [
      .done: "believe", .failed: failed, .exceeded: exceeded, .locked: "later",
      .refused: "once more",
    ]
    for lines in Lines.allCases where row[lines] == nil { row[lines] = others[lines] ?? unended }
    return row
  }

  private static let larger = "memory 2 alone"

  /// For each state, what comes out at the first attempt.
  static let table: [String: [Lines: String]] = [
    "COMPLETED": row("elsewhere", exceeded: larger, [.outOfTime: "time 60", .cancelled: "fail"]),
    "OUT_OF_MEMORY": row(larger, failed: larger, exceeded: larger),
    "FAILED 0:9": row(larger, failed: larger, exceeded: larger),
    "TIMEOUT": row(
      "again",
      [.working: "fail", .published: "time 60", .outOfTime: "time 60", .cancelled: "fail"]),
    "NODE_FAIL": row("elsewhere"),
    "PREEMPTED": row("elsewhere"),
    "CANCELLED": row("fail", exceeded: larger),
    "DEADLINE": row("once more"),
    "FAILED 1:0": row("once more", exceeded: larger),
  ]

  @Test("Every state with every kind of results", arguments: states.map(\.0))
  func first(_ name: String) throws {
    let view = try #require(Self.states.first { $0.0 == name }).1
    let row = try #require(Self.table[name])
    for lines in Lines.allCases {
      let word = Self.word(Self.element(lines, view))
      #expect(word == row[lines], "\(name), \(lines)")
    }
  }

  /// What has been tried before, and what then comes out.
  static let later: [(String, Lines, TaskView, @Sendable (inout CaptureHistory) -> Void, String)] =
    [
      ("memory grows", .working, states[1].1, { $0.memoryBytes = 2 * gigabyte }, "memory 4 alone"),
      ("and ends", .working, states[1].1, { $0.memoryBytes = 4 * gigabyte }, "fail"),
      ("time grows", .published, states[3].1, { $0.timeSeconds = 3600 }, "time 120"),
      (
        "while something is published it goes on in the longest time", .published, states[3].1,
        { $0.timeSeconds = 7200 }, "again"
      ),
      ("two nodes", .working, states[4].1, { $0.lostOn = ["node1"] }, "elsewhere"),
      ("three nodes", .working, states[4].1, { $0.lostOn = ["node1", "node2"] }, "fail"),
      ("broken twice", .begun, states[8].1, { $0.breakdowns = 1 }, "fail"),
      ("refused twice", .refused, states[0].1, { $0.breakdowns = 1 }, "fail"),
    ]

  @Test("Later attempts", arguments: later.indices)
  func again(_ index: Int) {
    let (name, lines, view, change, expected) = Self.later[index]
    #expect(Self.word(Self.element(lines, view, change)) == expected, "\(name)")
  }

  @Test(
    "What went well does not wait for the batch system; what did not waits for a cause, for a while"
  )
  func causes() {
    #expect(Self.word(Self.element(.done, nil, over: 0)) == "believe")
    #expect(Self.word(Self.element(.done, TaskView(state: .pending), over: 0)) == "believe")
    #expect(Self.word(Self.element(.failed, nil, over: 10)) == "wait")
    #expect(Self.word(Self.element(.failed, nil, over: 61)) == "believe")
    #expect(Self.word(Self.element(.working, TaskView(state: .running))) == "wait")
    #expect(Self.word(Self.element(.working, nil)) == "wait")
    #expect(Self.word(Self.element(.cancelled, nil, over: 10)) == "wait")
  }

  @Test("A result that cannot be seen yet is waited for, one that never shows is a failure")
  func visibility() {
    var facts = Self.element(.done, Self.states[0].1, over: 10)
    facts.captures[0].isVisible = false
    #expect(Self.word(facts) == "wait")
    facts.secondsOver = 91
    #expect(Self.word(facts) == "fail")
    // Without a word of the batch system as well.
    facts.view = nil
    facts.secondsOver = 61
    #expect(Self.word(facts) == "wait")
    facts.secondsOver = 91
    #expect(Self.word(facts) == "fail")
  }

  @Test("Lines that are missing are waited for before the element counts as lost")
  func missingLines() {
    #expect(Self.word(Self.element(.working, Self.states[0].1, over: 80)) == "wait")
    #expect(Self.word(Self.element(.working, Self.states[0].1, over: 91)) == "elsewhere")
  }

  @Test("An element that leaves a queue without a word is lost when it stays away")
  func gone() {
    #expect(Self.word(Self.element(.working, nil, over: nil, gone: 29)) == "wait")
    #expect(Self.word(Self.element(.working, nil, over: nil, gone: 31)) == "elsewhere")
    #expect(Self.word(Self.element(.done, nil, over: 0, gone: 31)) == "believe")
  }

  @Test("A word that nobody knows is waited for while the queue lists it, then the lines count")
  func unknown() {
    let view = TaskView(state: .unknown("FROZEN"))
    #expect(Self.word(Self.element(.working, view, over: nil)) == "wait")
    #expect(Self.word(Self.element(.failed, view, over: 5)) == "believe")
    #expect(Self.word(Self.element(.working, view, over: nil, gone: 40)) == "elsewhere")
  }

  static let waits: [(String, String)] = [
    ("Priority", "wait"), ("Resources", "wait"), ("QOSMaxJobsPerUserLimit", "wait"),
    ("AssocGrpCPUMinutesLimit", "wait"), ("ReqNodeNotAvail, UnavailableNodes:node[1-2]", "wait"),
    ("BeginTime", "wait"), ("JobArrayTaskLimit", "wait"), ("None", "wait"), ("JobHeldUser", "wait"),
    ("DependencyNeverSatisfied", "fail"), ("JobHeldAdmin", "fail"),
    ("launch failed requeued held", "elsewhere"), ("BadConstraints", "never"),
    ("PartitionConfig", "never"), ("AccountNotAllowed", "never"), ("InvalidAccount", "never"),
    ("InvalidQOS", "never"),
  ]

  @Test("Reasons of waiting: some end, some never do", arguments: waits)
  func waiting(_ reason: String, _ expected: String) {
    let view = TaskView(state: .pending, reason: reason)
    #expect(Self.word(Self.element(.nothing, view)) == expected)
  }

  @Test("Ways to break before any work are told apart, with the node and what helps")
  func breakdowns() throws {
    let table: [(TaskView, Breakdown, String)] = [
      (
        TaskView(state: .failed, exitCode: 127, signal: 0, node: "node3"), .programMissing,
        "program"
      ),
      (TaskView(state: .failed, exitCode: 0, signal: 53, node: "node3"), .logFolderMissing, "0:53"),
      (TaskView(state: .failed, exitCode: 3, signal: 0, node: "node3"), .exit(3), "code 3"),
      // As the queue tells it, without accounting.
      (
        TaskView(state: .failed, node: "node3", reason: "NonZeroExitCode"), .programMissing, "setup"
      ),
      (
        TaskView(state: .failed, node: "node3", reason: "JobLaunchFailure"), .logFolderMissing,
        "logs"
      ),
    ]
    for (view, how, text) in table {
      guard case .settle(_, .broken(let found)) = Self.judge.decide(Self.element(.nothing, view))
      else {
        Issue.record("\(view) is not told as broken")
        continue
      }
      #expect(found == how)
      #expect(found.text(on: "node3").contains(text))
      #expect(found.text(on: "node3").contains("node3"))
    }
    #expect(Breakdown.exit(3).isLike(.exit(3)))
    #expect(!Breakdown.exit(3).isLike(.exit(4)))
    #expect(Breakdown.refused("a").isLike(.refused("b")))
  }

  @Test("Of a group only what is concerned is tried again, what is done is believed")
  func groups() throws {
    var facts = Self.element(.failed, Self.states[1].1)
    var done = Self.element(.done, nil).captures[0]
    done.name = "b"
    var unbegun = CaptureFacts(name: "c", history: facts.captures[0].history)
    unbegun.history.attempts = 2
    facts.captures += [done, unbegun]
    facts.end = nil
    guard case .settle(let decisions, _) = Self.judge.decide(facts) else {
      Issue.record("nothing was decided")
      return
    }
    #expect(decisions["b"] == .believe)
    guard case .again(let history, _)? = decisions["c"] else {
      Issue.record("'c' is not tried again")
      return
    }
    #expect(history.attempts == 3)
    #expect(history.memoryBytes == 2 * Self.gigabyte)
  }
}
