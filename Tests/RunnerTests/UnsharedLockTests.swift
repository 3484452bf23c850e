import Captures
import FoundationEssentials
import Pipeline
import Storage
import Synchronization
import SystemPackage
import Testing

@testable import Runner

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Where locks are not shared")
struct UnsharedLockTests {
  /// Another run over the same capture, in the middle of a stage of the first.
  final class Other: Sendable {
    private let batch: BatchRun
    private let findings: [CaptureFinder.Finding]
    private let run: String
    let log = EventLog()
    let exit = Mutex<Int?>(nil)

    init(_ workshop: Workshop, run: String) {
      batch = workshop.batch(.all, { _ in }, clock: .system)
      findings = workshop.findings(nil)
      self.run = run
    }

    func work() {
      let report = FileLock.$areNotShared.withValue(true) {
        batch.run(
          batch.targets(findings), declined: [], run: run, events: log,
          cancellation: Cancellation())
      }
      exit.withLock { $0 = report.exit }
    }
  }

  @Test("Two runs at once spare each other's staging, publish whole artifacts, and say so")
  func two() throws {
    let workshop = try RerunTests.done()
    workshop.runID = RunID(wallText: RunClock.system.wallText()).text
    let other = Other(workshop, run: RunID(wallText: RunClock.system.wallText()).text)
    let isFirst = Mutex(true)
    workshop.probe().after("color") { _ in
      guard
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return }
      other.work()
    }
    let result = FileLock.$areNotShared.withValue(true) { workshop.run(.all) }
    #expect(other.exit.withLock { $0 } == 0)
    #expect(result.exit == 0)
    for stage in ["color", "depth", "aligned", "tables"] {
      #expect(
        ArtifactShelf(workshop.layout()).published(stage, verify: true)?.state == .intact)
    }
    let said = result.events.filter { $0.kind == .locksNotShared }.compactMap(\.message)
    #expect(said.count == 1)
    #expect(said.first?.hasPrefix("locks-not-shared: ") == true)
    #expect(workshop.run().busy() == [])
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
  }

  @Test("Where the lock is ours alone nobody is warned")
  func alone() throws {
    let workshop = try Workshop()
    #expect(workshop.run().events.allSatisfy { $0.kind != .locksNotShared })
  }

  @Test("Staging of another machine is spared while it is young, and swept when it is old")
  func young() throws {
    let workshop = try RerunTests.done()
    for run in ["20260101T000000-17-0123abcd-00000a", "20260101T000000-17"] {
      let staging = workshop.layout().staging("color", run: run)
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
      #expect(try Cleaning(.failed).perform(workshop.layout(), intermediates: []) == [])
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
    #expect(result.message("color").contains("publish: "))
    #expect(workshop.published("color") == "red")
  }

  @Test("Ids of runs differ, name process and place, and a folder that is taken is not used")
  func runIDs() throws {
    let folder = try TestFolder()
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
