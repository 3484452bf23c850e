import Synchronization
import TestSupport
import Testing

@testable import Core

@Suite("Threads that help")
struct HelperThreadsTests {
  @Test("Every piece is done once, whoever does it", arguments: [0, 1, 2, 7, 1000])
  func once(count: Int) {
    let done = Mutex([Int](repeating: 0, count: count))
    HelperThreads.perform(count, atOnce: 4) { piece, _ in done.withLock { $0[piece] += 1 } }
    #expect(done.withLock { $0 } == [Int](repeating: 1, count: count))
  }

  @Test("Pieces that ask for help themselves come to their end")
  func nested() {
    let sum = Atomic<Int>(0)
    HelperThreads.perform(8, atOnce: 4) { _, _ in
      HelperThreads.perform(8, atOnce: 4) { piece, _ in
        sum.add(piece, ordering: .relaxed)
      }
    }
    #expect(sum.load(ordering: .relaxed) == 8 * 28)
  }

  @Test("Several threads take part, and more when they are requested meanwhile")
  func widening() {
    let inside = Mutex((now: 0, most: 0))
    // The first piece waits until a second one is done beside it: only a helper can do that.
    let isMet = Mutex(false)
    HelperThreads.perform(2, atOnce: 1) { piece, crew in
      inside.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      if piece == 0 {
        crew.widen(to: 2)
        Waiting.until("the second piece") { isMet.withLock { $0 } }
      } else {
        isMet.withLock { $0 = true }
      }
      inside.withLock { $0.now -= 1 }
    }
    #expect(inside.withLock { $0.most } == 2)
  }

  @Test("A crew has one thread from the beginning and grows when all are at work")
  func crew() throws {
    let crew = try #require(ThreadPool())
    let mailbox = Mailbox<Int>()
    let gate = Mailbox<Bool>()
    #expect(crew.start { mailbox.put(gate.take() ? 1 : 0) })
    #expect(crew.start { mailbox.put(2) })
    #expect(mailbox.take() == 2)
    gate.put(true)
    #expect(mailbox.take() == 1)
  }
}
