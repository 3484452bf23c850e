@testable import Engine
import Testing

@Suite("Which failed jobs of a capture are started again")
struct RetryQueueTests {
  private static let mayPass = Failure(exit: 1, .machine, mayPass: true)
  private static let shortage = FailureTable.failure(.ourselves, .shortage)

  @Test("A failure that cannot pass is final")
  func final() {
    var queue = RetryQueue(allowed: 5)
    let failure = Failure(cause: .input)
    let isHeld = queue.add("a", failure, own: 5, beside: [], atSeconds: 0)
    #expect(!isHeld)
    #expect(queue.isEmpty)
    #expect(queue.secondsToNext(atSeconds: 0) == nil)
  }

  @Test("One that may pass is tried again as often as the run or the stage allows")
  func allowed() {
    for (run, own, attempts) in [(0, 0, 0), (2, 0, 2), (0, 2, 2), (1, 3, 3)] {
      var queue = RetryQueue(allowed: run)
      var count = 0
      while count < 10, queue.add("a", Self.mayPass, own: own, beside: ["other"], atSeconds: 0) {
        count += 1
        #expect(queue.takeDue(atSeconds: 1000) == ["a"])
      }
      #expect(count == attempts)
    }
  }

  @Test("A shortage waits without an end while others run, and four times alone")
  func shortages() {
    var queue = RetryQueue(allowed: 0)
    for _ in 0..<20 {
      let isHeld = queue.add("a", Self.shortage, own: 0, beside: ["other"], atSeconds: 0)
      #expect(isHeld)
      #expect(queue.takeDue(atSeconds: 0.5) == ["a"])
    }
    var count = 0
    while count < 10, queue.add("a", Self.shortage, own: 9, beside: [], atSeconds: 0) {
      count += 1
      _ = queue.takeAll()
    }
    #expect(count == 4)
  }

  @Test("Jobs that are short beside each other only do not wait without an end")
  func together() {
    var queue = RetryQueue(allowed: 0)
    var open: Set<String> = ["a", "b"]
    var rounds = 0
    while !open.isEmpty, rounds < 100 {
      rounds += 1
      for name in open.sorted() {
        let isHeld = queue.add(
          name, Self.shortage, own: 0, beside: open.subtracting([name]), atSeconds: 0)
        if !isHeld { open.remove(name) }
      }
      _ = queue.takeAll()
    }
    #expect(rounds == 6)
  }

  @Test("The next one due counts, and an interrupt takes all")
  func due() {
    var queue = RetryQueue(allowed: 1)
    let isAgain = queue.add("b", Self.mayPass, own: 0, beside: ["other"], atSeconds: 10)
    let isHeld = queue.add("a", Self.shortage, own: 0, beside: ["other"], atSeconds: 10.25)
    #expect(isAgain && isHeld)
    #expect(queue.secondsToNext(atSeconds: 10.25) == 0.25)
    #expect(queue.takeDue(atSeconds: 10.5) == ["b"])
    #expect(queue.takeAll() == ["a"])
    #expect(queue.isEmpty)
  }
}
