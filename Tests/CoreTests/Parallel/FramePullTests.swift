import Dispatch
@testable import Core
import Synchronization
import Testing

@Suite("Pulling frames")
struct FramePullTests {
  struct Failure: Error, Equatable {
    var item: Int
    var isPull = false
  }

  /// A source of `count` items that watches how it is used.
  final class Source: Sendable {
    struct State {
      var next = 0
      var isPulling = false
      var pullsAfterEnd = 0
      var isOver = false
      var wasConcurrent = false
      var inFlight = 0
      var mostInFlight = 0
      var finished: [Int] = []
    }

    let state = Mutex(State())
    let count: Int
    let failsAt: Int?

    init(count: Int, failsAt: Int? = nil) {
      self.count = count
      self.failsAt = failsAt
    }

    func pull() throws -> Int? {
      let item: Int? = state.withLock { state in
        if state.isPulling { state.wasConcurrent = true }
        state.isPulling = true
        if state.isOver { state.pullsAfterEnd += 1 }
        guard state.next < count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
      return try state.withLock { state in
        state.isPulling = false
        if item == nil { state.isOver = true }
        if let item, item == failsAt {
          state.isOver = true
          throw Failure(item: item, isPull: true)
        }
        if item != nil {
          state.inFlight += 1
          state.mostInFlight = max(state.mostInFlight, state.inFlight)
        }
        return item
      }
    }

    func finish(_ item: Int) {
      state.withLock {
        $0.inFlight -= 1
        $0.finished.append(item)
      }
    }
  }

  static func run(
    _ source: Source, workers: Int, budget: CoreBudget = CoreBudget(cores: 4),
    work: @Sendable (Int) throws -> Void = { _ in }
  ) throws {
    try pullFrames(
      workers: workers, budget: budget, makeScratch: { 0 },
      next: { (_: inout Int) in try source.pull() },
      work: { item, scratch in
        scratch += 1
        defer { source.finish(item) }
        try work(item)
      })
  }

  @Test(
    "Every item is worked on once, at most one per worker at a time", arguments: [0, 1, 2, 3, 8])
  func once(workers: Int) throws {
    for count in [0, 1, 2, 100] {
      let source = Source(count: count)
      try Self.run(source, workers: workers)
      let state = source.state.withLock { $0 }
      #expect(state.finished.sorted() == Array(0..<count))
      #expect(state.mostInFlight <= max(1, workers))
      #expect(!state.wasConcurrent)
      #expect(state.pullsAfterEnd == 0)
    }
  }

  @Test("Of several errors the one of the earliest item is thrown", arguments: 0..<50)
  func earliest(round: Int) {
    let source = Source(count: 100)
    let failing: Set<Int> = [10 + round % 7, 11 + round % 7, 13 + round % 7, 40]
    let error = #expect(throws: Failure.self) {
      try Self.run(source, workers: 4) { item in
        if failing.contains(item) { throw Failure(item: item) }
      }
    }
    #expect(error == Failure(item: 10 + round % 7))
  }

  @Test("After an error of the source nothing is pulled any more", arguments: 0..<50)
  func failingSource(round: Int) {
    let source = Source(count: 100, failsAt: round)
    let error = #expect(throws: Failure.self) { try Self.run(source, workers: 4) }
    #expect(error == Failure(item: round, isPull: true))
    let state = source.state.withLock { $0 }
    #expect(state.pullsAfterEnd == 0)
    #expect(state.finished.sorted() == Array(0..<round))
  }

  @Test("If an item fails and then the source, the error of the item is reported")
  func both() {
    for _ in 0..<50 {
      let source = Source(count: 100, failsAt: 9)
      let error = #expect(throws: Failure.self) {
        try Self.run(source, workers: 4) { item in if item == 8 { throw Failure(item: 8) } }
      }
      #expect(error == Failure(item: 8))
    }
  }

  @Test("After a failed item only those in flight are finished")
  func failedItem() {
    let source = Source(count: 1_000_000)
    #expect(throws: Failure.self) {
      try Self.run(source, workers: 2) { item in if item == 5 { throw Failure(item: 5) } }
    }
    #expect(source.state.withLock { $0.next } < 1_000_000)
    #expect(source.state.withLock { $0.inFlight } == 0)
  }

  @Test("A worker without scratch fails the whole, and everything pulled is finished")
  func scratch() {
    let source = Source(count: 1_000)
    #expect(throws: Failure.self) {
      try pullFrames(
        workers: 2, budget: CoreBudget(cores: 2),
        makeScratch: { () throws -> Int in throw Failure(item: -1) },
        next: { (_: inout Int) in try source.pull() }, work: { item, _ in source.finish(item) })
    }
    #expect(source.state.withLock { $0.inFlight } == 0)
  }

  @Test("Scratch is made once per worker and goes from item to item")
  func scratchReuse() throws {
    let made = Mutex(0)
    let uses = Mutex(0)
    let source = Source(count: 100)
    try pullFrames(
      workers: 3, budget: CoreBudget(cores: 2),
      makeScratch: { made.withLock { $0 += 1 } },
      next: { (_: inout Void) in try source.pull() },
      work: { item, _ in
        uses.withLock { $0 += 1 }
        source.finish(item)
      })
    #expect(made.withLock { $0 } <= 3)
    #expect(uses.withLock { $0 } == 100)
  }

  static func runAhead(
    _ source: Source, workers: Int, ahead: Int, budget: CoreBudget = CoreBudget(cores: 4),
    work: @Sendable (Int) throws -> Void = { _ in }
  ) throws {
    try pullFrames(
      workers: workers, ahead: ahead, budget: budget, makeScratch: {},
      next: { (_: inout Void) in try source.pull() },
      work: { item, _ in
        defer { source.finish(item) }
        try work(item)
      })
  }

  @Test(
    "Ahead: every item once, and no more than so many wait besides one per worker",
    arguments: [0, 1, 2, 5], [1, 2, 3, 8])
  func ahead(ahead: Int, workers: Int) throws {
    for count in [0, 1, 2, 3, 100] {
      let source = Source(count: count)
      try Self.runAhead(source, workers: workers, ahead: ahead)
      let state = source.state.withLock { $0 }
      #expect(state.finished.sorted() == Array(0..<count))
      #expect(state.mostInFlight <= workers + ahead)
      #expect(!state.wasConcurrent)
      #expect(state.pullsAfterEnd == 0)
    }
  }

  @Test("An item that waits is worked on while the next one is pulled")
  func waitingItem() throws {
    let isPulled = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    let numbers = Mutex(0)
    // The third pull ends only when the first item is done, and that only once the third pull has begun: with two
    // workers somebody must have pulled the second item and left it for later.
    try pullFrames(
      workers: 2, ahead: 1, budget: CoreBudget(cores: 2), makeScratch: {},
      next: { (_: inout Void) -> Int? in
        let number = numbers.withLock { numbers in
          numbers += 1
          return numbers
        }
        if number == 3 {
          isPulled.signal()
          #expect(isDone.wait(timeout: .now() + 600) == .success)
        }
        return number <= 3 ? number : nil
      },
      work: { item, _ in
        guard item == 1 else { return }
        #expect(isPulled.wait(timeout: .now() + 600) == .success)
        isDone.signal()
      })
  }

  @Test(
    "Ahead: of several errors the one of the earliest item, and all that was pulled is finished")
  func errorsAhead() {
    for round in 0..<50 {
      let source = Source(count: 100, failsAt: round % 3 == 0 ? 20 : nil)
      let failing: Set<Int> = [10 + round % 7, 11 + round % 7, 13 + round % 7, 40]
      let error = #expect(throws: Failure.self) {
        try Self.runAhead(source, workers: 3, ahead: 2) { item in
          if failing.contains(item) { throw Failure(item: item) }
        }
      }
      #expect(error == Failure(item: 10 + round % 7))
      #expect(source.state.withLock { $0.inFlight } == 0)
      #expect(source.state.withLock { $0.pullsAfterEnd } == 0)
    }
  }

  @Test("Ahead: after an error of the source what was pulled before is finished", arguments: 0..<20)
  func failingSourceAhead(round: Int) {
    let source = Source(count: 100, failsAt: round)
    let error = #expect(throws: Failure.self) {
      try Self.runAhead(source, workers: 3, ahead: 2)
    }
    #expect(error == Failure(item: round, isPull: true))
    #expect(source.state.withLock { $0.finished.sorted() } == Array(0..<round))
  }
}
