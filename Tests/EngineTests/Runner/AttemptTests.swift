import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine

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
      .failure(FileError(kind: .other, path: "x", operation: "start", reason: "no")),
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

@Suite("Jobs that are tried again")
struct JobRetriesTests {
  @Test("Each attempt waits twice as long as the one before it, at most half a minute")
  func waits() {
    var retries = JobRetries(allowed: 10)
    var waits: [Double?] = []
    for _ in 0..<11 {
      waits.append(retries.again("color", own: 0, atSeconds: 100))
      #expect(retries.takeAll() == (waits.last == .some(nil) ? [] : ["color"]))
    }
    #expect(waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, nil])
  }
}

@Suite("Which failed jobs of a capture are started again")
struct RetryQueueTests {
  private static let mayPass = Failure(exit: 1, .machine, mayPass: true)
  private static let shortage = FailureTable.failure(.ourselves, .shortage)

  @Test("A failure that cannot pass is final")
  func final() {
    var queue = RetryQueue(allowed: 5)
    let failure = Failure(cause: .input)
    let isHeld = queue.add("a", failure, own: 5, beside: [], atSeconds: 0)
    #expect(!isHeld)
    #expect(queue.isEmpty)
    #expect(queue.secondsToNext(atSeconds: 0) == nil)
  }

  @Test("One that may pass is tried again as often as the run or the stage allows")
  func allowed() {
    for (run, own, attempts) in [(0, 0, 0), (2, 0, 2), (0, 2, 2), (1, 3, 3)] {
      var queue = RetryQueue(allowed: run)
      var count = 0
      while count < 10, queue.add("a", Self.mayPass, own: own, beside: ["other"], atSeconds: 0) {
        count += 1
        #expect(queue.takeDue(atSeconds: 1000) == ["a"])
      }
      #expect(count == attempts)
    }
  }

  @Test("A shortage waits without an end while others run, and four times alone")
  func shortages() {
    var queue = RetryQueue(allowed: 0)
    for _ in 0..<20 {
      let isHeld = queue.add("a", Self.shortage, own: 0, beside: ["other"], atSeconds: 0)
      #expect(isHeld)
      #expect(queue.takeDue(atSeconds: 0.5) == ["a"])
    }
    var count = 0
    while count < 10, queue.add("a", Self.shortage, own: 9, beside: [], atSeconds: 0) {
      count += 1
      _ = queue.takeAll()
    }
    #expect(count == 4)
  }

  @Test("Jobs that are short beside each other only do not wait without an end")
  func together() {
    var queue = RetryQueue(allowed: 0)
    var open: Set<String> = ["a", "b"]
    var rounds = 0
    while !open.isEmpty, rounds < 100 {
      rounds += 1
      for name in open.sorted() {
        let isHeld = queue.add(
          name, Self.shortage, own: 0, beside: open.subtracting([name]), atSeconds: 0)
        if !isHeld { open.remove(name) }
      }
      _ = queue.takeAll()
    }
    #expect(rounds == 6)
  }

  @Test("The next one due counts, and an interrupt takes all")
  func due() {
    var queue = RetryQueue(allowed: 1)
    let isAgain = queue.add("b", Self.mayPass, own: 0, beside: ["other"], atSeconds: 10)
    let isHeld = queue.add("a", Self.shortage, own: 0, beside: ["other"], atSeconds: 10.25)
    #expect(isAgain && isHeld)
    #expect(queue.secondsToNext(atSeconds: 10.25) == 0.25)
    #expect(queue.takeDue(atSeconds: 10.5) == ["b"])
    #expect(queue.takeAll() == ["a"])
    #expect(queue.isEmpty)
  }
}
