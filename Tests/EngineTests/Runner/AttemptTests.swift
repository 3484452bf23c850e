@testable import Captures
@testable import Engine
@testable import Core
import Synchronization
import SystemPackage
import Testing
import Glibc

@Suite("Attempts of one run")
struct AttemptTests {
  private static func names(in workshop: Workshop) -> [String] {
    (try? FileSystem.names(in: workshop.layout().stagingRoot)) ?? []
  }

  @Test("Names in staging carry the attempt, the lock and the journal the run")
  func names() throws {
    let workshop = try Workshop()
    let (run, attempt) = (RunID.new().text, RunID.new().text)
    workshop.runID = run
    let seen = Mutex<(names: [String], lock: String)>(([], ""))
    let (staging, lock) = (workshop.layout().stagingRoot, workshop.layout().lock)
    workshop.probe().before("tables") { _ in
      let found = ((try? FileSystem.names(in: staging)) ?? [], Text.read(lock) ?? "")
      seen.withLock { $0 = found }
    }
    let result = workshop.run {
      $0.attempt = attempt
      $0.jobName = "job 123_45"
    }
    #expect(result.report.run == run && result.exit == 0)
    let (names, text) = seen.withLock { $0 }
    #expect(names == ["tables.\(attempt)"])
    #expect(
      text.split(separator: "\n").first.map(String.init)
        == "scanmill run \(run), \(ProcessHome.hostName), job 123_45 (process \(getpid()))")
  }

  @Test("What is no id of ours is not used: it would not be known in staging")
  func noID() {
    var options = RunOptions(output: "out", cores: 1)
    for text in [nil, "", "attempt-2", "20260101T000000-7-x"] {
      options.attempt = text
      #expect(options.attempt(of: "run") == "run")
    }
    let id = RunID.new().text
    options.attempt = id
    #expect(options.attempt(of: "run") == id)
  }

  @Test("A worker's end is cleared away under its own attempt; another one of the run goes on")
  func workerFailure() throws {
    let workshop = try RerunTests.done()
    let (run, mine, others) = (RunID.new().text, RunID.new().text, RunID.new().text)
    let layout = workshop.layout()
    for attempt in [mine, others] {
      try Text.write("half", to: layout.staging("color", attempt: attempt).appending("out.txt"))
    }
    var options = RunOptions(output: workshop.output, cores: 1)
    options.attempt = mine
    var partialReport = PartialReport()
    partialReport.hear(RunEvent(kind: .planned, time: "", capture: "scan", stage: "color"))
    partialReport.hear(RunEvent(kind: .started, time: "", capture: "scan", stage: "color"))
    let failure = WorkerFailure(
      target: try #require(
        workshop.batch(Selection(), { _ in }, clock: .system)
          .targets(workshop.findings(nil)).first),
      partialReport: partialReport, run: run, options: options, clock: .system, log: "no.log",
      isInterrupted: false)
    let outcome = failure.outcome(
      .notStarted(FileError(kind: .other, path: "x", operation: "start", reason: "no")),
      kill: nil)
    #expect(outcome.report.outcome == .failed)
    #expect(Self.names(in: workshop) == ["color.\(others)"])
    #expect(Text.read(layout.failed("color").appending("out.txt")) == "half")
  }

  // MARK: Patience

  /// A minute passes whenever somebody looks.
  private static func clock() -> RunClock {
    let seconds = Mutex(0.0)
    return RunClock(
      wallText: RunClock.system.wallText,
      monotonicSeconds: {
        seconds.withLock {
          $0 += 60
          return $0
        }
      })
  }

  @Test(
    "A capture that another run holds is waited for as long as the patience lasts",
    arguments: [(0.0, 0), (150.0, 1)])
  func patience(seconds: Double, waits: Int) throws {
    let workshop = try Workshop()
    try workshop.add("a")
    let lock = try FileLock(at: workshop.layout("a").lock, holder: "scanmill run 7") { _ in false }
    let result = workshop.run(clock: Self.clock()) { $0.lockPatienceSeconds = seconds }
    #expect(result.exit == ExitStatus.locked)
    #expect(result["a"].outcome == .skipped)
    #expect(result["a"].why.message == "locked by scanmill run 7")
    #expect(result["scan"].outcome == .made)
    #expect(
      result.events.filter { $0.kind == .waiting }.map(\.message)
        == Array(repeating: "locked by scanmill run 7", count: waits))
    withExtendedLifetime(lock) {}
  }
}
