@testable import Core
import Synchronization
import Testing

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
