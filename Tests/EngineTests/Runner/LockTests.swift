@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import Testing

@Suite("Two runs at once")
struct LockTests {
  @Test("An interrupt ends the wait")
  func interrupted() throws {
    let workshop = try Workshop()
    let lock = try FileLock(at: workshop.layout().lock, holder: "scanmill run 7") { _ in false }
    let cancellation = Cancellation()
    let result = workshop.run(events: Canceller(cancellation), cancellation: cancellation)
    #expect(result["scan"].outcome == .interrupted)
    #expect(result["scan"].why.message == "not started")
    withExtendedLifetime(lock) {}
  }

  @Test(
    "What a person decides after a run was given a capture counts, unless the capture was named",
    arguments: [MarkRecord.Kind.ignore, .retire, .doneAsIs], [true, false])
  func marked(kind: MarkRecord.Kind, isNamed: Bool) throws {
    // Results of a named capture that move away under its run are another matter.
    for isWaitedFor in [true, false] where !(isWaitedFor && isNamed && kind == .retire) {
      let workshop = try Workshop()
      if isWaitedFor { #expect(workshop.run(captures: ["scan"]).exit == 0) }
      try workshop.write("blue", to: "color.bin")
      let batch = workshop.batch(Selection(), { _ in }, clock: .system)
      var target = try #require(batch.targets(workshop.findings(nil)).first)
      target.heedsMarks = !isNamed
      let folder = target.recognition.folder
      let place = (PathSafety.resolved(folder) ?? folder).text
      let mark: @Sendable () -> Void = { [output = workshop.output] in
        let subject = Marking.Subject(id: "scan", folder: place, stem: nil)
        _ = try? Marking(ofOutput: output, holder: "a test").mark([subject]) { _ in
          MarkRecord(
            kind, note: "dark", until: MarkRecord.untilChanged, by: "anna",
            at: "2026-11-27T08:00:00Z", id: "scan", folder: place, stem: nil)
        }
      }
      var lock: FileLock?
      if isWaitedFor {
        lock = try FileLock(at: workshop.layout().lock, holder: "scanmill run 7") { _ in false }
      } else {
        mark()
      }
      let holder = LockHolder(lock, afterwards: mark)
      lock = nil
      let report = batch.run(
        [target], declined: [], run: TestRun.id(9), events: holder, cancellation: Cancellation())
      let capture = try #require(report.captures.first)
      #expect(report.exit == 0)
      guard !isNamed, kind != .doneAsIs else {
        #expect(capture.outcome == .made, "\(capture.why.message ?? "")")
        #expect(workshop.published("color") == "blue")
        continue
      }
      #expect(capture.outcome == .skipped)
      #expect(capture.why.message?.hasPrefix("marked \(kind.rawValue) by anna") == true)
      #expect(workshop.published("color") == (isWaitedFor && kind == .ignore ? "red" : nil))
    }
  }

  /// Gives its lock back when somebody waits for it.
  private final class LockHolder: EventSink {
    private let lock: Mutex<FileLock?>
    private let afterwards: @Sendable () -> Void

    init(_ lock: FileLock?, afterwards: @escaping @Sendable () -> Void = {}) {
      self.lock = Mutex(lock)
      self.afterwards = afterwards
    }

    func send(_ event: RunEvent) {
      guard event.kind == .waiting else { return }
      let hadLock = lock.withLock { lock in
        defer { lock = nil }
        return lock != nil
      }
      if hadLock { afterwards() }
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
