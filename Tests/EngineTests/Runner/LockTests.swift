import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

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

@Suite("Where locks are not shared")
struct UnsharedLockTests {
  /// How the file system treats locks.
  enum Locks: CaseIterable {
    /// Each has its own.
    case unshared
    /// None at all.
    case absent

    func during<Value>(_ body: () throws -> Value) rethrows -> Value {
      switch self {
      case .unshared: try FileLock.$areNotShared.withValue(true, operation: body)
      case .absent: try FileLock.$answer.withValue(.noFunction, operation: body)
      }
    }
  }

  /// Another run over the same capture, in the middle of a stage of the first.
  final class Other: Sendable {
    private let batch: BatchRun
    private let findings: [CaptureFinder.Finding]
    private let run: String
    private let locks: Locks
    let log = EventLog()
    let exit = Mutex<Int?>(nil)

    init(_ workshop: Workshop, _ locks: Locks, run: String, attempt: String? = nil) {
      self.locks = locks
      // In another process the lock's text would differ by that.
      batch = workshop.batch(
        .all,
        {
          $0.attempt = attempt
          $0.jobName = attempt.map { _ in "job 2" }
        }, clock: .system)
      findings = workshop.findings(nil)
      self.run = run
    }

    func work() {
      let report = locks.during {
        batch.run(
          batch.targets(findings), declined: [], run: run, events: log,
          cancellation: Cancellation())
      }
      exit.withLock { $0 = report.exit }
    }
  }

  @Test(
    "Two runs at once, or two attempts of one, spare each other's staging, publish whole artifacts, and say so",
    arguments: [false, true], Locks.allCases)
  func two(isOneRun: Bool, locks: Locks) throws {
    let workshop = try RerunTests.done()
    let run = RunID.new().text
    let (first, second) = (RunID.new().text, RunID.new().text)
    workshop.runID = isOneRun ? run : first
    let other = Other(
      workshop, locks, run: isOneRun ? run : second, attempt: isOneRun ? second : nil)
    let isFirst = Mutex(true)
    workshop.probe().after("color") { _ in
      guard
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return }
      other.work()
    }
    let result = locks.during {
      workshop.run(.all) { $0.attempt = isOneRun ? first : nil }
    }
    #expect(other.exit.withLock { $0 } == 0)
    #expect(result.exit == 0)
    for stage in ["color", "depth", "aligned", "tables"] {
      #expect(
        ArtifactStore(workshop.layout()).published(stage, verify: true)?.state == .intact)
    }
    let said = result.events.filter { $0.kind == .locksNotShared }.compactMap(\.message)
    #expect(said.count == 1)
    #expect(said.first?.hasPrefix("locks-not-shared: ") == true)
    // Its text is that of the run, as the lock's.
    #expect(said.first?.contains(isOneRun ? run : second) == true)
    #expect(workshop.run().busy() == [])
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
  }

  @Test(
    "A file system without locks fails no run; each capture says once that nobody is kept out",
    arguments: [Errno.noFunction, .noLocks, .notSupportedOnSocket])
  func none(answer: Errno) throws {
    let workshop = try Workshop()
    try workshop.add("a")
    let result = FileLock.$answer.withValue(answer) { workshop.run { $0.waitsForLocks = false } }
    #expect(result.exit == 0)
    #expect(result.stages() == RerunTests.everything)
    let said = result.events.filter { $0.kind == .locksNotShared }
    #expect(said.compactMap(\.capture).sorted() == ["a", "scan"])
    #expect(said.allSatisfy { $0.message?.contains("has no locks (\(answer))") == true })
    #expect(!FileSystem.exists(workshop.layout().stagingRoot))
  }

  @Test("What else goes wrong with a lock is a failure of the output")
  func broken() throws {
    let workshop = try Workshop()
    let result = FileLock.$answer.withValue(.ioError) { workshop.run() }
    #expect(result["scan"].outcome == .failed)
    #expect(result["scan"].why.message?.contains("cannot be locked: ") == true)
    #expect(result.exit == ExitStatus.cannotWrite)
  }

  @Test("Staging of another machine is spared while it is young, and swept when it is old")
  func young() throws {
    let workshop = try RerunTests.done()
    for run in ["20260101T000000-17-0123abcd-00000a", "20260101T000000-17-0123abcd-00000b"] {
      let staging = workshop.layout().staging("color", attempt: run)
      try Text.write("half", to: staging.appending("more/out.txt"))
      func age(_ path: FilePath) {
        var times = [
          timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0),
        ]
        #expect(utimensat(AT_FDCWD, path.string, &times, AT_SYMLINK_NOFOLLOW) == 0)
      }
      age(staging)
      age(staging.appending("more"))
      // The file in it is young.
      #expect(workshop.run().exit == 0)
      #expect(Text.read(staging.appending("more/out.txt")) == "half")
      #expect(try CleaningChoice.failed.perform(workshop.layout(), intermediates: []) == [])
      for path in [staging.appending("more/out.txt"), staging.appending("more"), staging] {
        age(path)
      }
      #expect(workshop.run(.forced("color")).exit == 0)
      #expect(!FileSystem.exists(workshop.layout().stagingRoot))
    }
  }

  @Test(
    "A file that goes from staging is noticed immediately before the rename",
    arguments: ["removed", "shorter", "another"])
  func incomplete(kind: String) throws {
    let workshop = try RerunTests.done()
    workshop.probe().after("color") { context in
      let file = context.staging.path.appending("out.txt")
      switch kind {
      case "removed": try FileSystem.remove(file)
      case "shorter": try Text.overwrite("r", at: file)
      default: try Text.write("x", to: context.staging.path.appending("more/x"))
      }
    }
    let result = workshop.run(.forced("color"))
    #expect(result.stages().first == "color failed forced")
    #expect(result.message("color").contains("cannot be published: "))
    #expect(workshop.published("color") == "red")
  }

  @Test("Ids of runs differ, name process and place, and a folder that is taken is not used")
  func runIDs() throws {
    let folder = try TemporaryFolder()
    let clock = RunClock(
      wallText: { "2026-01-24T10:11:12.345Z" }, monotonicSeconds: { 0 })
    let journals = try (0..<20).map { _ in try RunJournal(root: folder.path, clock: clock) }
    #expect(Set(journals.map(\.id)).count == 20)
    for journal in journals {
      let id = try #require(RunID(journal.id))
      #expect(id.isAlive == true)
      #expect(journal.id.hasPrefix("20260124T101112-\(getpid())-\(ProcessHome.current)-"))
    }
    #expect(try FileSystem.names(in: folder.path.appending("runs")).count == 20)
  }

  @Test("The lock names run, process and host; the second line where the process number counts")
  func holder() throws {
    let workshop = try Workshop()
    let lock = workshop.layout().lock
    let text = Mutex("")
    workshop.probe().before("color") { _ in text.withLock { $0 = Text.read(lock) ?? "" } }
    let result = workshop.run()
    #expect(result.exit == 0)
    let lines = text.withLock { $0 }.split(separator: "\n")
    #expect(
      lines.first?.hasSuffix("(process \(getpid()) on \(ProcessHome.hostName))") == true)
    #expect(lines.last?.contains("boot \(ProcessHome.bootID)") == true)
    #expect(lines.last?.contains("namespace \(ProcessHome.processNamespace)") == true)
  }
}
