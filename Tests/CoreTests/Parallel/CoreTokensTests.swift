import Synchronization
import TestSupport
import Testing

@testable import Core

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
