@testable import Core
import Synchronization
import Testing
import Glibc

@Suite("The core budget")
struct CoreBudgetTests {
  /// How many are at work at a time.
  final class Gauge: Sendable {
    private let state = Mutex((now: 0, most: 0))

    func measure(_ body: () -> Void) {
      state.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      body()
      state.withLock { $0.now -= 1 }
    }

    var most: Int { state.withLock { $0.most } }
  }

  @Test("Two stages together never hold more tokens than there are cores", arguments: [1, 2, 3])
  func shared(cores: Int) {
    let budget = CoreBudget(cores: cores)
    let gauge = Gauge()
    let done = Mailbox<Int>()
    for stage in 0..<2 {
      _ = JobThread.start {
        let view = budget.view()
        let items = Mutex(0)
        try? pullFrames(
          workers: 4, budget: view, makeScratch: {},
          next: { (_: inout Void) -> Int? in
            var item: Int?
            gauge.measure {
              item = items.withLock { count in
                guard count < 200 else { return nil }
                count += 1
                return count
              }
            }
            return item
          },
          work: { _, _ in gauge.measure { Self.spin() } })
        done.put(stage)
      }
    }
    #expect(Set([done.take(), done.take()]) == [0, 1])
    #expect(gauge.most >= 1)
    #expect(gauge.most <= cores)
  }

  @Test("A map counts against it too")
  func map() throws {
    let budget = CoreBudget(cores: 1)
    let gauge = Gauge()
    _ = try concurrentMap(count: 100, budget: budget) { _ in gauge.measure { Self.spin() } }
    #expect(gauge.most == 1)
  }

  @Test("A token comes back after an error; less than one core counts as one")
  func errors() throws {
    struct Failure: Error {}
    let budget = CoreBudget(cores: -3)
    #expect(budget.cores == 1)
    #expect(throws: Failure.self) { try budget.withCore { throw Failure() } }
    #expect(budget.withCore { 7 } == 7)
  }

  @Test("Each view adds up its own CPU time")
  func account() {
    let budget = CoreBudget(cores: 2)
    let (busy, idle) = (budget.view(), budget.view())
    while busy.cpuSeconds < 0.002 { busy.withCore { Self.spin() } }
    #expect(idle.cpuSeconds == 0)
    #expect(budget.cpuSeconds == 0)
  }

  @Test(
    "A view that charges its thread counts work without a token too, and work with one only once")
  func charges() {
    let budget = CoreBudget(cores: 2)
    let start = Self.threadSeconds()
    let view = budget.view(chargesThisThread: true)
    while Self.threadSeconds() < start + 0.01 { Self.spin() }
    view.withCore { while Self.threadSeconds() < start + 0.02 { Self.spin() } }
    let spent = Self.threadSeconds() - start
    #expect(view.cpuSeconds >= 0.02 - 0.001)
    #expect(view.cpuSeconds <= spent + 0.001)
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func spin() {
    var value: UInt64 = 1
    for _ in 0..<2_000 { value = value &* 6_364_136_223_846_793_005 &+ 1 }
    withExtendedLifetime(value) {}
  }
}
