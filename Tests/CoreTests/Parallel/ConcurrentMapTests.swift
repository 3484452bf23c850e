@testable import Core
import Synchronization
import Testing

@Suite("Concurrent map")
struct ConcurrentMapTests {
  struct Failure: Error, Equatable {
    var index: Int
  }

  @Test("Results are in order, whatever order they were made in", arguments: [0, 1, 2, 7, 1000])
  func order(count: Int) throws {
    let expected = (0..<count).map { $0 * $0 }
    #expect(try concurrentMap(count: count) { $0 * $0 } == expected)
    #expect(
      try concurrentMap(count: count, budget: CoreBudget(cores: 1)) { $0 * $0 } == expected)
  }

  @Test("Every iteration runs; the error with the lowest index is thrown", arguments: 0..<20)
  func errors(first: Int) {
    let ran = Mutex<Set<Int>>([])
    let error = #expect(throws: Failure.self) {
      try concurrentMap(count: 100) { index -> Int in
        ran.withLock { _ = $0.insert(index) }
        if index >= first, index.isMultiple(of: 3) || index == first { throw Failure(index: index) }
        return index
      }
    }
    #expect(error == Failure(index: first))
    #expect(ran.withLock { $0.count } == 100)
  }

  @Test("Results that are objects are released once")
  func objects() throws {
    final class Counted: Sendable {
      static let alive = Mutex(0)
      init() { Self.alive.withLock { $0 += 1 } }
      deinit { Self.alive.withLock { $0 -= 1 } }
    }
    do {
      let all = try concurrentMap(count: 50) { _ in Counted() }
      #expect(all.count == 50)
      withExtendedLifetime(all) { #expect(Counted.alive.withLock { $0 } == 50) }
    }
    #expect(Counted.alive.withLock { $0 } == 0)
  }
}
