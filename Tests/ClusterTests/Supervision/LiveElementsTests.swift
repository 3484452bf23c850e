import SystemPackage
import Testing

@testable import Captures
@testable import Cluster
@testable import Core
@testable import Engine

@Suite("The parts of a run on a batch system that need none")
struct LiveElementsTests {
  private static let request = JobRequest(cores: 1, memoryBytes: 1 << 30, timeSeconds: 60)

  private static func element(
    _ number: Int, job: String? = nil, seconds: Double = 10
  ) -> LiveElement {
    var element = LiveElement(number: number, request: request, captures: [])
    element.expectedSeconds = seconds
    element.task = job.map { TaskID(job: $0, index: number) }
    return element
  }

  @Test("Work that is done and left follows from what was decided, not from what was given up")
  func work() {
    let elements = LiveElements()
    elements.add((0..<4).map { Self.element($0, job: $0 < 2 ? "7" : nil) })
    #expect(elements.submittedCount == 2)
    #expect(elements.unsubmittedCount == 2)
    #expect(elements.jobs == ["7"])
    elements.settle(0)
    elements.settle(0)
    elements.drop(3)
    #expect(elements.numbers == [1, 2])
    #expect(elements.endedCount == 1)
    #expect(elements.secondsDone == 10)
    #expect(elements.secondsLeft == 20)
    elements.update(9) { $0.expectedSeconds = 1 }
    #expect(!elements.numbers.contains(9))
    elements.dropAll()
    #expect(elements.isEmpty && elements.endedCount == 1)
  }

  @Test("An element waits while the queue says so and it has not begun")
  func waiting() {
    let elements = LiveElements()
    elements.add([Self.element(0, job: "7"), Self.element(1, job: "7")])
    #expect(elements.waiting.isEmpty)
    for number in 0..<2 {
      elements.update(number) { $0.see(TaskView(state: .pending), isQueue: true, atSeconds: 1) }
    }
    let begin = ArrayTaskBegin(element: 0, job: "7_0", host: "n", cores: 1, memoryBytes: nil)
    elements.update(0) { $0.hear(.begin(begin), atSeconds: 2) }
    #expect(elements.waiting.map(\.number) == [1])
  }

  @Test("Silence counts from the first question without an answer")
  func silence() {
    let stopper = ClusterStopper()
    #expect(stopper.silenceSeconds(atSeconds: 5) == 0)
    stopper.noteSilence(atSeconds: 5)
    #expect(stopper.silenceSeconds(atSeconds: 5) == 0)
    stopper.noteSilence(atSeconds: 9)
    #expect(stopper.silenceSeconds(atSeconds: 10) == 5)
    stopper.noteAnswer()
    #expect(stopper.silenceSeconds(atSeconds: 11) == 0)
  }

  @Test("A node is left out after the second element that was lost on it")
  func losses() {
    let elements = LiveElements()
    for node in ["b", "a", "b", "c", "a", "a"] { elements.noteLoss(on: node) }
    #expect(elements.excludedNodes == ["a", "b"])
  }

  @Test("The first reason to stop counts, and a lost terminal before any")
  func stop() {
    let stopper = ClusterStopper()
    stopper.stop(.configuration("first"))
    stopper.stop(.configuration("second"))
    #expect(stopper.reason == .configuration("first"))
    stopper.leave()
    #expect(stopper.reason == .left)
  }
}

@Suite("What is heard of an element")
struct LiveElementTests {
  private static let task = TaskID(job: "7", index: 3)

  private func element() -> LiveElement {
    var element = LiveElement(
      number: 3, request: JobRequest(cores: 1, memoryBytes: 1 << 30, timeSeconds: 60), captures: [])
    element.task = Self.task
    return element
  }

  private static let begin = ArrayTaskLine.begin(
    ArrayTaskBegin(element: 3, job: "7_3", host: "node1", cores: 1, memoryBytes: nil))

  @Test("Records that lag do not make it wait again")
  func lag() {
    var element = element()
    element.hear(Self.begin, atSeconds: 1)
    element.see(TaskView(state: .pending), isQueue: false, atSeconds: 2)
    #expect(element.view == nil)
    element.see(TaskView(state: .running), isQueue: false, atSeconds: 3)
    #expect(element.view?.state == .running)
  }

  @Test("Missing in records is nothing; missing in the queue counts from the first time")
  func missing() {
    var element = element()
    element.see(nil, isQueue: false, atSeconds: 5)
    #expect(element.goneSeconds == nil)
    element.see(nil, isQueue: true, atSeconds: 10)
    element.see(nil, isQueue: true, atSeconds: 40)
    #expect(element.goneSeconds == 10)
    element.see(TaskView(state: .running), isQueue: true, atSeconds: 46)
    #expect(element.goneSeconds == nil)
  }

  @Test("What the queue has lost is not running because records go on to say so; an end is an end")
  func runaway() {
    var element = element()
    element.see(TaskView(state: .running), isQueue: false, atSeconds: 1)
    element.see(nil, isQueue: true, atSeconds: 10)
    element.see(TaskView(state: .running), isQueue: false, atSeconds: 20)
    #expect(element.goneSeconds == 10)
    element.see(TaskView(state: .outOfMemory), isQueue: false, atSeconds: 41)
    #expect(element.goneSeconds == nil)
    #expect(element.overSeconds == 41)
  }

  @Test("A second life of an element takes nothing back that was done")
  func twoLives() {
    func line(_ outcome: RunOutcome, _ codes: Set<Int>) -> ArrayTaskLine {
      .capture(
        CaptureLine(
          name: "a",
          outcome: CaptureOutcome(
            CaptureReport(id: "a", path: "", family: nil, outcome: outcome), codes: codes),
          peakMemoryBytes: nil, seconds: 0, artifacts: []))
    }
    var element = element()
    element.hear(Self.begin, atSeconds: 0)
    element.hear(line(.made, []), atSeconds: 1)
    element.hear(.end(ArrayTaskEnd(way: .done)), atSeconds: 2)
    element.hear(Self.begin, atSeconds: 3)
    #expect(element.end == nil)
    element.hear(line(.skipped, [ExitStatus.locked]), atSeconds: 4)
    #expect(element.lines["a"]?.outcome.report.outcome == .made)
  }

  @Test("Asking is worth it when it was never heard of, is silent, or has ended")
  func asking() {
    var element = element()
    #expect(element.isWorthAsking(quietSeconds: 60, atSeconds: 0))
    element.hear(Self.begin, atSeconds: 100)
    #expect(!element.isWorthAsking(quietSeconds: 60, atSeconds: 130))
    #expect(element.isWorthAsking(quietSeconds: 60, atSeconds: 161))
    element.hear(.end(ArrayTaskEnd(way: .done)), atSeconds: 162)
    #expect(element.isWorthAsking(quietSeconds: 60, atSeconds: 162))
    element.task = nil
    #expect(!element.isWorthAsking(quietSeconds: 60, atSeconds: 162))
  }
}

@Suite("How a run on a cluster stands, in words")
struct ClusterTextTests {
  @Test("Only what is told of")
  func line() {
    var text = ClusterText()
    text.elements = 12
    text.captures = 40
    #expect(text.line == "0/12 elements · 0/40 captures done, 0 failed")
    text.ended = 3
    text.running = 4
    text.waiting = 5
    text.reason = TaskView.words(ofReason: "Priority")
    text.done = 9
    text.failed = 1
    text.held = 2
    text.secondsLeft = 3900
    #expect(
      text.line
        == "3/12 elements, 4 running, 5 waiting (Priority: others come first)"
        + " · 9/40 captures done, 1 failed, 2 held by another run · 1 h 5 min left")
  }

  @Test("A run in progress, with and without elements that wait, and one that nobody concluded")
  func active() {
    var run = ActiveRun(run: "20261122T013000-1-00000000-000000")
    run.elements = 3
    run.ended = 1
    run.running = 2
    #expect(
      run.line == "run \(run.run) on the cluster: 1/3 elements ended, 2 running")
    run.waiting = 1
    run.longestWaitSeconds = 61
    run.reason = "Resources: nodes are busy"
    #expect(
      run.line.hasSuffix(", 1 waiting (for up to 1 min; Resources: nodes are busy)"))
    run.isAbandoned = true
    #expect(run.line.contains("was not concluded"))
  }
}
