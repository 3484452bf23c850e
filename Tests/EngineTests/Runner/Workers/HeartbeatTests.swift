import Synchronization
import Testing

@testable import Engine

@Suite("A worker says that it gets on")
struct HeartbeatTests {
  /// A clock that is set by hand, and what was said.
  private final class Bench: Sendable {
    let seconds = Mutex(0.0)
    let told = Mutex<[Int]>([])

    var heartbeat: Heartbeat {
      let clock = RunClock(wallText: { "" }, monotonicSeconds: { self.seconds.withLock { $0 } })
      return Heartbeat(clock: clock) { signs in self.told.withLock { $0.append(signs) } }
    }

    func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
    var count: Int { told.withLock(\.count) }
  }

  @Test("Only when something has gone on since, and not more often than twice a second")
  func beat() {
    let bench = Bench()
    let heartbeat = bench.heartbeat
    for _ in 0..<100 {
      bench.pass(0.25)
      heartbeat.beat(7)
    }
    #expect(bench.count == 1)
    for signs in 8..<48 {
      bench.pass(0.25)
      heartbeat.beat(signs)
    }
    #expect(bench.count == 21)
  }

  @Test("A wait that is in order is told each time anew")
  func waiting() {
    let bench = Bench()
    let heartbeat = bench.heartbeat
    for number in 1...10 {
      bench.pass(1)
      heartbeat.wait()
      #expect(bench.count == number)
    }
    // What was done meanwhile is no less than before.
    bench.pass(1)
    heartbeat.beat(3)
    #expect(bench.count == 11)
  }
}
