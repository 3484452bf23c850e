import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Core

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

@Suite("A core budget that changes while work goes on")
struct CoreBudgetShareTests {
  /// The most bodies that ran at once over `count` bodies.
  private static func peak(_ budget: CoreBudget, count: Int) throws -> Int {
    let state = Mutex((now: 0, peak: 0))
    _ = try concurrentMap(count: count, budget: budget) { _ in
      state.withLock {
        $0.now += 1
        $0.peak = max($0.peak, $0.now)
      }
      for _ in 0..<2000 { _ = state.withLock { $0.now } }
      state.withLock { $0.now -= 1 }
    }
    return state.withLock { $0.peak }
  }

  @Test("Never more at once than the share, whatever it was before", arguments: [1, 2, 3])
  func shrinks(share: Int) throws {
    let budget = CoreBudget(cores: 4)
    budget.resize(to: 4)
    budget.resize(to: share)
    #expect(try Self.peak(budget, count: 64) <= share)
    #expect(budget.cores == 4)
  }

  @Test("Tokens that are out when the share shrinks are swallowed when they come back")
  func shrinksWhileOut() throws {
    let budget = CoreBudget(cores: 2)
    budget.withCore { budget.resize(to: 1) }
    #expect(try Self.peak(budget, count: 32) == 1)
    budget.withCore {
      budget.resize(to: 2)
      budget.resize(to: 1)
      budget.resize(to: 2)
    }
    // Both are there again: two bodies that wait for each other end.
    let arrived = Mutex(0)
    _ = try concurrentMap(count: 2, budget: budget) { _ in
      arrived.withLock { $0 += 1 }
    }
    #expect(arrived.withLock { $0 } == 2)
  }

  @Test("A share outside 1 … cores counts as the nearest that is inside")
  func limits() throws {
    let budget = CoreBudget(cores: 2, share: 0)
    #expect(try Self.peak(budget, count: 16) == 1)
    budget.resize(to: 100)
    #expect(try Self.peak(budget, count: 16) <= 2)
  }

  @Test(
    "Reserved cores are not given out, but for the last one, and come back",
    arguments: [(0, 4), (1, 3), (3, 1), (4, 1), (9, 1), (-2, 4)])
  func reservation(cores: Int, left: Int) throws {
    let budget = CoreBudget(cores: 4)
    let reservation = budget.reserve(cores)
    #expect(budget.share == left)
    #expect(try Self.peak(budget, count: 64) <= left)
    reservation.release()
    reservation.release()
    #expect(budget.share == 4)
    #expect(reservation.cores == 0)
  }

  @Test("A reservation that is gone is given back, and one outlasts a change of the share")
  func forgottenReservation() {
    let budget = CoreBudget(cores: 4)
    do {
      let reservation = budget.reserve(2)
      budget.resize(to: 2)
      #expect(budget.share == 1)
      budget.resize(to: 4)
      #expect(budget.share == 2)
      #expect(reservation.cores == 2)
    }
    #expect(budget.share == 4)
  }

  @Test("A thread that waits for a reserved core gets it when it is released")
  func waitingForReserved() {
    let budget = CoreBudget(cores: 2)
    let reservation = budget.reserve(1)
    let done = Mailbox<Int>()
    budget.withCore {
      _ = JobThread.start { budget.withCore { done.put(1) } }
      reservation.release()
      #expect(done.take() == 1)
    }
  }
}

@Suite("The tokens of a core budget")
struct CoreTokensTests {
  @Test("Threads of precedence first get the next one, however long others have waited")
  func precedence() {
    let tokens = CoreTokens(1)
    let order = Mutex<[CorePrecedence]>([])
    let done = Mailbox<Void>()
    tokens.take(.inTurn)
    let waiters: [CorePrecedence] = [.inTurn, .inTurn, .first, .inTurn, .first]
    for (index, precedence) in waiters.enumerated() {
      _ = JobThread.start {
        tokens.take(precedence)
        order.withLock { $0.append(precedence) }
        tokens.giveBack()
        done.put(())
      }
      Waiting.until("waiter \(index)") { tokens.waitingCount > index }
    }
    tokens.giveBack()
    for _ in waiters { done.take() }
    #expect(order.withLock { $0 } == [.first, .first, .inTurn, .inTurn, .inTurn])
    #expect(tokens.waitingCount == 0)
  }

  @Test(
    "More tokens than before wake as many as can go on; fewer keep all waiting until enough are back"
  )
  func resize() {
    let tokens = CoreTokens(2)
    let done = Mailbox<Int>()
    tokens.take(.inTurn)
    tokens.take(.inTurn)
    tokens.resize(to: 1)
    _ = JobThread.start {
      tokens.take(.first)
      done.put(1)
    }
    Waiting.until("the one that waits") { tokens.waitingCount >= 1 }
    tokens.giveBack()
    #expect(tokens.waitingCount == 1, "one is still out, and that is all there may be")
    tokens.resize(to: 2)
    #expect(done.take() == 1)
    _ = JobThread.start {
      tokens.take(.inTurn)
      done.put(2)
    }
    Waiting.until("the one that waits") { tokens.waitingCount >= 1 }
    tokens.giveBack()
    #expect(done.take() == 2)
  }
}

@Suite("Processors that a process may use")
struct ProcessorCountTests {
  @Test(
    "The bits of the mask are counted",
    arguments: [
      ("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n", 8),
      ("Cpus_allowed:\t00000000,00000003\n", 2), ("Cpus_allowed:\t0\n", nil), ("", nil),
    ] as [(String, Int?)])
  func mask(status: String, count: Int?) {
    #expect(ProcessorCount.allowed(in: status) == count)
    #expect(ProcessorCount.available >= 1)
  }
}
