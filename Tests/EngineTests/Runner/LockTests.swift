@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import Testing

@Suite("Two runs at once")
struct LockTests {
  @Test("With --no-wait a locked capture is skipped and named; the others go on")
  func noWait() throws {
    let workshop = try Workshop()
    try workshop.add("a")
    let lock = try FileLock(at: workshop.layout("a").lock, holder: "scanmill run 7") { _ in false }
    let result = workshop.run { $0.waitsForLocks = false }
    #expect(result.exit == ExitStatus.locked)
    #expect(result["a"].outcome == .skipped)
    #expect(result["a"].message == "locked by scanmill run 7")
    #expect(result["scan"].outcome == .made)
    #expect(workshop.folders(of: "a") == [])
    withExtendedLifetime(lock) {}
  }

  @Test("Otherwise it waits, says for whom, and goes on when the other is done")
  func waits() throws {
    let workshop = try Workshop()
    let holder = LockHolder(
      try FileLock(at: workshop.layout().lock, holder: "scanmill run 7") { _ in false })
    let result = workshop.run(events: holder)
    #expect(result.exit == 0)
    #expect(result.stages() == RerunTests.everything)
    #expect(
      result.events.filter { $0.kind == .waiting }.map(\.message) == ["locked by scanmill run 7"])
  }

  @Test("An interrupt ends the wait")
  func interrupted() throws {
    let workshop = try Workshop()
    let lock = try FileLock(at: workshop.layout().lock, holder: "scanmill run 7") { _ in false }
    let cancellation = Cancellation()
    let result = workshop.run(events: Canceller(cancellation), cancellation: cancellation)
    #expect(result["scan"].outcome == .interrupted)
    #expect(result["scan"].message == "not started")
    withExtendedLifetime(lock) {}
  }

  /// Gives its lock back when somebody waits for it.
  private final class LockHolder: EventSink {
    private let lock: Mutex<FileLock?>

    init(_ lock: FileLock?) {
      self.lock = Mutex(lock)
    }

    func send(_ event: RunEvent) {
      if event.kind == .waiting { lock.withLock { $0 = nil } }
    }
  }

  private struct Canceller: EventSink {
    let cancellation: Cancellation

    init(_ cancellation: Cancellation) {
      self.cancellation = cancellation
    }

    func send(_ event: RunEvent) {
      if event.kind == .waiting { cancellation.cancel("interrupted") }
    }
  }
}
