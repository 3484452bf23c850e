@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@testable import Cluster

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
    var silence = SilenceClock()
    #expect(silence.seconds(atSeconds: 5) == 0)
    let lengths = [silence.note(atSeconds: 5), silence.note(atSeconds: 9)]
    #expect(lengths == [0, 4])
    #expect(silence.seconds(atSeconds: 10) == 5)
    silence.end()
    #expect(silence.seconds(atSeconds: 11) == 0)
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
