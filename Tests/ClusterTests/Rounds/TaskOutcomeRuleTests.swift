@testable import Captures
@testable import Engine
import SystemPackage
import Testing

@testable import Cluster

/// Every way in which an element ends, with and without results, at the first attempt and later.
@Suite("What is done about an element that has ended")
struct TaskOutcomeRuleTests {
  static let gigabyte: Int64 = 1 << 30
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

  private static func capture(
    _ name: String, _ change: (inout CaptureHistory) -> Void = { _ in }
  ) -> ArrayTaskCapture {
    let recognition = Recognition(
      family: .scannet, certainty: .certain, folder: "/in", stem: nil, id: name, reason: "")
    var capture = ArrayTaskCapture(
      target: CaptureTarget(
        recognition: recognition, layout: OutputLayout(root: "/out", name: name)),
      history: CaptureHistory(memoryBytes: gigabyte, timeSeconds: 1800))
    change(&capture.history)
    return capture
  }

  private static func line(
    _ name: String, _ outcome: RunOutcome, _ codes: Set<Int> = [], exceededMemory: Bool = false
  ) -> ArrayTaskLine {
    var outcome = CaptureOutcome(
      CaptureReport(id: name, path: "/in/\(name)", family: "scannet", outcome: outcome),
      codes: codes)
    outcome.exceededMemory = exceededMemory
    return .capture(
      CaptureLine(name: name, outcome: outcome, peakMemoryBytes: nil, seconds: 1, artifacts: []))
  }

  /// An element as it is at second 0, whose end was told `over` seconds before and which left the queue `gone` seconds
  /// before.
  static func element(
    _ lines: Lines, _ view: TaskView?, over: Double = 200, gone: Double? = nil,
    _ change: (inout CaptureHistory) -> Void = { _ in }
  ) -> LiveElement {
    let capture = capture("a", change)
    var element = LiveElement(
      number: 7,
      request: JobRequest(
        cores: 4, memoryBytes: capture.history.memoryBytes, timeSeconds: capture.history.timeSeconds
      ), captures: [capture])
    element.seen = ["a"]
    func hear(_ line: ArrayTaskLine) { element.hear(line, atSeconds: -over) }
    func hear(_ kind: RunEvent.Kind, _ change: (inout RunEvent) -> Void = { _ in }) {
      var event = RunEvent(kind: kind, time: "", capture: "a")
      change(&event)
      hear(.event(event))
    }
    if lines != .nothing {
      hear(
        .begin(
          ArrayTaskBegin(element: 7, job: "123_7", host: "node3", cores: 4, memoryBytes: nil)))
    }
    switch lines {
    case .nothing, .begun, .refused: break
    case .working, .cancelled: hear(.captureStarted)
    case .published, .outOfTime:
      hear(.captureStarted)
      hear(.finished) { ($0.stage, $0.outcome) = ("color", .made) }
    case .done: hear(line("a", .made))
    case .failed: hear(line("a", .failed))
    case .exceeded: hear(line("a", .failed, exceededMemory: true))
    case .locked: hear(line("a", .skipped, [ExitStatus.locked]))
    }
    switch lines {
    case .done, .failed, .exceeded, .locked: hear(.end(ArrayTaskEnd(way: .done)))
    case .outOfTime: hear(.end(ArrayTaskEnd(way: .outOfTime, left: ["a"])))
    case .cancelled: hear(.end(ArrayTaskEnd(way: .cancelled, left: ["a"])))
    case .refused:
      hear(.end(ArrayTaskEnd(way: .refused, left: ["a"], message: "another build")))
    default: break
    }
    if let view { element.see(view, isQueue: true, atSeconds: -over) }
    if let gone { element.see(nil, isQueue: true, atSeconds: -gone) }
    return element
  }

  static func decision(_ element: LiveElement, atSeconds now: Double = 0) -> ArrayTaskDecision {
    TaskOutcomeRule(
      element: element, task: TaskID(job: "123", index: 7), nowSeconds: now,
      maxMemoryBytes: 4 * gigabyte, maxTimeSeconds: 7200
    ).decision
  }

  /// What comes out, in a word.
  static func word(_ element: LiveElement, atSeconds now: Double = 0) -> String {
    switch decision(element, atSeconds: now) {
    case .wait: return "wait"
    case .never: return "never"
    case .settle(let decisions, _):
      switch decisions["a"] {
      case .believe: return "believe"
      case .later: return "later"
      case .fail: return "fail"
      case .again(let history, _):
        let before = element.captures[0].history
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
    // The batch system tells the end, or only the element itself does.
    for (view, over) in [(Self.states[0].1, 10.0), (nil, 61)] as [(TaskView?, Double)] {
      var element = Self.element(.done, view, over: over)
      element.seen = []
      #expect(Self.word(element) == "wait")
      #expect(Self.word(element, atSeconds: 91 - over) == "fail")
    }
  }

  @Test("Lines that are missing are waited for before the element counts as lost")
  func missingLines() {
    #expect(Self.word(Self.element(.working, Self.states[0].1, over: 80)) == "wait")
    #expect(Self.word(Self.element(.working, Self.states[0].1, over: 91)) == "elsewhere")
  }

  @Test("An element that leaves a queue without a word is lost when it stays away")
  func gone() {
    #expect(Self.word(Self.element(.working, nil, gone: 29)) == "wait")
    #expect(Self.word(Self.element(.working, nil, gone: 31)) == "elsewhere")
    #expect(Self.word(Self.element(.done, nil, over: 0, gone: 31)) == "believe")
  }

  @Test("A word that nobody knows is waited for while the queue lists it, then the lines count")
  func unknown() {
    let view = TaskView(state: .unknown("FROZEN"))
    #expect(Self.word(Self.element(.working, view)) == "wait")
    #expect(Self.word(Self.element(.failed, view, over: 5)) == "believe")
    #expect(Self.word(Self.element(.working, view, gone: 40)) == "elsewhere")
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
      guard case .settle(_, .broken(let found)) = Self.decision(Self.element(.nothing, view))
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
    var element = Self.element(.begun, Self.states[1].1)
    element.captures += [Self.capture("b"), Self.capture("c") { $0.attempts = 2 }]
    element.hear(Self.line("a", .failed), atSeconds: 0)
    element.hear(Self.line("b", .made), atSeconds: 0)
    element.seen.insert("b")
    guard case .settle(let decisions, _) = Self.decision(element) else {
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
