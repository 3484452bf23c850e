@testable import Engine
import Testing

@testable import Cluster

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
    #expect(element.facts(Self.task, log: [], atSeconds: 50).secondsGone == nil)
    element.see(nil, isQueue: true, atSeconds: 10)
    element.see(nil, isQueue: true, atSeconds: 40)
    #expect(element.facts(Self.task, log: [], atSeconds: 45).secondsGone == 35)
    element.see(TaskView(state: .running), isQueue: true, atSeconds: 46)
    #expect(element.facts(Self.task, log: [], atSeconds: 47).secondsGone == nil)
  }

  @Test("What the queue has lost is not running because records go on to say so; an end is an end")
  func runaway() {
    var element = element()
    element.see(TaskView(state: .running), isQueue: false, atSeconds: 1)
    element.see(nil, isQueue: true, atSeconds: 10)
    element.see(TaskView(state: .running), isQueue: false, atSeconds: 20)
    #expect(element.facts(Self.task, log: [], atSeconds: 40).secondsGone == 30)
    element.see(TaskView(state: .outOfMemory), isQueue: false, atSeconds: 41)
    #expect(element.facts(Self.task, log: [], atSeconds: 42).secondsGone == nil)
    #expect(element.facts(Self.task, log: [], atSeconds: 42).secondsOver == 1)
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
