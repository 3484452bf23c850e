@testable import Captures
import Core
@testable import Engine
import SystemPackage
import Testing

@Suite("How a capture stands")
struct CaptureRowTests {
  private func condition(
    _ entry: CaptureRow, isLocked: Bool = false, waiting: WatchRecord.Waiting? = nil,
    watcher: NightReport.Watch? = nil, runs: [RunEntry] = []
  ) -> CaptureRow {
    var row = entry
    row.settle(
      isLocked: isLocked, waiting: waiting, watcher: watcher,
      history: OutputSnapshot.histories(runs)[entry.id])
    row.judge()
    return row
  }

  @Test(
    "By its stages alone",
    arguments: [
      ([.done, .notApplicable], .done), ([.notApplicable], .done), ([], .queued),
      ([.done, .stale], .done), ([.missing, .missing], .queued), ([.done, .failed], .failed),
      ([.done, .blocked], .failed), ([.failed, .blocked], .failed),
      ([.done, .notRequested, .notRequested], .done), ([.notRequested, .stale], .done),
    ] as [([StageState], CaptureState)])
  func stages(stages: [StageState], state: CaptureState) {
    #expect(condition(Sample.entry(stages: stages)).state == state)
  }

  @Test("What has changed waits where somebody is to take it; else it was done and needs a person")
  func stale() throws {
    let entry = Sample.entry(stages: [.done, .stale])
    let alone = condition(entry)
    #expect(alone.state == .done && alone.reasons.map(\.code) == [.stale])
    let reason = try #require(alone.reasons.first)
    #expect(
      reason.text == "not up to date: depth" && reason.remedy?.contains("`--until depth`") == true)
    #expect(alone.command(output: "/out")?.contains("--until depth --id scan") == true)
    let made = Sample.run(1, Sample.attempt("scan", .made))
    let removed = condition(Sample.entry(stages: [.missing, .missing]), runs: [made])
    #expect(removed.state == .done && removed.reasons.map(\.code) == [.stale])
    #expect(condition(entry, watcher: Sample.watcher(isAlive: false), runs: [made]).needsPerson)
    let taken = condition(entry, watcher: Sample.watcher(), runs: [made])
    #expect(taken.state == .queued && !taken.needsPerson)
    let left = condition(
      entry, runs: [made, Sample.run(2, Sample.attempt("scan", .interrupted))])
    #expect(left.state == .queued && left.reasons.map(\.code) == [.interrupted])
    #expect(left.command(output: "/out")?.hasSuffix("--output /out --id scan") == true)
    var open = made
    open.finished = nil
    let view = OutputSnapshot(
      root: "/out", entries: [entry], locked: [], runs: [open], record: nil,
      isWatcherAlive: false, now: 0)
    #expect(view.rows.map(\.state) == [.queued])
  }

  @Test("Runs that are dated in the future are told, but for those of clocks that differ a little")
  func future() {
    let runs = [Sample.run(1, Sample.attempt("scan", .made))]
    let started = UTCText.nanoseconds(runs[0].started) ?? 0
    func told(secondsBefore: Int64) -> String? {
      OutputSnapshot(
        root: "/out", entries: [], locked: [], runs: runs, record: nil, isWatcherAlive: false,
        now: started - secondsBefore * 1_000_000_000
      ).futureRuns
    }
    #expect(told(secondsBefore: -1) == nil && told(secondsBefore: 500) == nil)
    #expect(
      told(secondsBefore: 3600)?.hasPrefix("1 run dated in the future, the last \(runs[0].id): ")
        == true)
  }

  @Test(
    "What waits while neither a run nor a watcher is at work was interrupted, begun or not, and needs a person"
  )
  func killed() {
    let entry = Sample.entry(stages: [.missing])
    let taken = condition(entry, watcher: Sample.watcher())
    #expect(taken.stateWords == "queued" && !taken.needsPerson)
    for (watcher, remedy) in [
      (nil, "Run the same command again"), (Sample.watcher(isAlive: false), "Start the watcher"),
    ] as [(NightReport.Watch?, String)] {
      let row = condition(entry, watcher: watcher)
      #expect(row.state == .queued && row.stateWords == "interrupted")
      #expect(row.reasons.map(\.code) == [.interrupted])
      #expect(row.remedies.first?.hasPrefix(remedy) == true, "\(row.remedies)")
      let totals = NightTotals(counting: [row, taken], unrecognized: 0)
      #expect(totals.line == "2 captures: 1 needs you, 1 queued")
      #expect(totals.interrupted == 1 && totals.skipped == 0)
    }
    var run = Sample.run(1, Sample.attempt("another", .made))
    run.finished = nil
    // Of another machine and not over; of a process of this one that has ended.
    for (id, outcome) in [(run.id, nil), (TestRun.id(1), .interrupted)] as [(String, RunOutcome?)] {
      run.id = id
      let view = OutputSnapshot(
        root: "/out", entries: [entry], locked: [], runs: [run], record: nil,
        isWatcherAlive: false, now: 0)
      #expect(view.rows.map(\.outcome) == [outcome], "\(id)")
    }
  }

  @Test("What only a full disk kept from being done waits for space where a watcher looks after it")
  func fullDisk() {
    let entry = Sample.entry(stages: [.failed, .failed]) {
      $0.failures = ["color", "depth"].map {
        Failure(stage: $0, message: "full", cause: .machine, detail: FailureDetail(.diskFull))
      }
    }
    for isAlive in [true, false] {
      let watched = condition(entry, watcher: Sample.watcher(isAlive: isAlive))
      #expect(watched.state == .queued && watched.waitsFor == "disk" && !watched.needsPerson)
    }
    #expect(condition(entry).state == .failed)
    var beside = entry
    beside.failures.append(
      Failure(stage: "inner", message: "full", cause: .machine, detail: FailureDetail(.diskFull)))
    #expect(condition(beside, watcher: Sample.watcher()).state == .queued)
    var other = entry
    other.failures[1].detail = FailureDetail(.deviceError)
    #expect(condition(other, watcher: Sample.watcher()).state == .failed)
  }

  @Test(
    "What was never begun waits for the disk or the part of the day, also once its watcher has ended"
  )
  func neverBegun() {
    var waiting = WatchRecord.Waiting(
      id: "scan", family: "scannet", path: "/in/scan", state: .queued, since: "", waitsFor: "disk")
    for (what, isAlive, words, outcome) in [
      ("disk", true, "queued", nil), ("disk", false, "queued", nil),
      ("window", false, "queued", nil),
      ("worker", false, "interrupted", .interrupted),
    ] as [(String, Bool, String, RunOutcome?)] {
      waiting.waitsFor = what
      let row = CaptureRow(waiting, watcher: Sample.watcher(isAlive: isAlive))
      #expect(row.stateWords == words && row.outcome == outcome, "\(what) \(isAlive)")
      #expect(row.waitsFor == (outcome == nil ? what : nil))
    }
  }

  @Test(
    "What a run with --only lacked is no fault of the capture: the remedy is --until, not another copy"
  )
  func blockedByChoice() throws {
    let entry = Sample.entry(stages: [.blocked])
    let blocked = Sample.attempt("scan", .blocked) {
      $0.failures = [Failure(stage: "color", message: "its input 'frames' is not up to date")]
    }
    let row = condition(entry, runs: [Sample.run(2, blocked)])
    #expect(row.state == .failed && row.failure?.cause == nil)
    let remedy = try #require(row.reasons.first?.remedy)
    #expect(remedy.contains("`--until color`") && !remedy.contains("Copy"), "\(remedy)")
    let broken = Sample.attempt("scan", .failed) {
      $0.failures = [Failure(stage: "color", message: "no header", cause: .input)]
    }
    #expect(condition(entry, runs: [Sample.run(2, broken)]).failure?.cause == .input)
  }

  @Test("A line breaks between words, and never between a number and its percent sign")
  func wrapping() {
    let text = "depth: 14.3 % are lost"
    for columns in 1...30 {
      let lines = text.wrapped(columns: columns, margin: "", hanging: "")
      #expect(lines.contains("14.3 %") && lines.split(whereSeparator: \.isWhitespace).count == 5)
    }
    #expect("a bc".wrapped(columns: 3, margin: "", hanging: " ") == "a\n bc")
  }

  @Test("A watcher takes what lies in its folder; of all else it is not waited for")
  func elsewhere() {
    let entry = Sample.entry(stages: [.done, .stale])
    for (staging, state) in [("/in", CaptureState.queued), ("/inbox", .done), ("/", .queued)] {
      let watcher = NightReport.Watch(alive: true, staging: staging, lastLook: nil)
      let row = condition(entry, watcher: watcher)
      #expect(row.state == state && row.needsPerson == (state == .done), "\(staging)")
    }
  }

  @Test("Of a queued capture texts say that its last run was kept from it")
  func words() {
    let entry = Sample.entry(stages: [.missing])
    let row = condition(entry, runs: [Sample.run(2, Sample.attempt("scan", .interrupted))])
    #expect(row.state == .queued && row.stateWords == "interrupted")
    #expect(condition(entry, watcher: Sample.watcher()).stateWords == "queued")
  }

  @Test("Warnings and missing files are told apart from notes")
  func warnings() {
    #expect(condition(Sample.entry { $0.warnings = [Sample.warning] }).state == .done)
    #expect(condition(Sample.entry { $0.missing = [".imu"] }).state == .done)
    let note = CaptureWarning(.unknownKey, "metadata", "one")
    #expect(note.severity == .note)
    #expect(condition(Sample.entry { $0.warnings = [note] }).state == .done)
  }

  @Test("A lock that is held goes before everything")
  func locked() {
    let entry = Sample.entry(stages: [.failed]) { $0.triage = Sample.triage(isQuarantined: true) }
    #expect(condition(entry, isLocked: true).state == .running)
  }

  @Test(
    "What the watcher saw counts, also after its end, until somebody has worked on the capture",
    arguments: [
      (.arriving, true, 6, .arriving), (.arriving, false, 6, .arriving),
      (.queued, true, 6, .queued), (.incomplete, false, 6, .incomplete),
      // A living watcher alone tells of a worker.
      (.running, true, 6, .running), (.running, false, 6, .done),
      // The run of 04:00 was later than the look.
      (.queued, false, 3, .done), (.arriving, true, 3, .done),
      // Nothing is at work that would take it.
      (.queued, false, 6, .done),
    ] as [(CaptureState, Bool, Int, CaptureState)])
  func waiting(seen: CaptureState, isAlive: Bool, look: Int, state: CaptureState) {
    let run = Sample.run(
      4, Sample.attempt("scan", .made) { $0.finished = "2026-11-20T04:10:00.000Z" })
    let found = condition(
      Sample.entry(), waiting: Sample.waiting(seen),
      watcher: Sample.watcher(isAlive: isAlive, at: "2026-11-20T0\(look):00:00.000Z"), runs: [run])
    #expect(found.state == state)
    if state == .incomplete { #expect(found.missing == [".imu"]) }
  }

  @Test("Triage says failed or quarantined, until a later run went well")
  func triage() {
    for isQuarantined in [false, true] {
      let entry = Sample.entry(stages: [.failed]) {
        $0.triage = Sample.triage(isQuarantined: isQuarantined)
      }
      let found = condition(entry)
      #expect(found.state == (isQuarantined ? .quarantined : .failed))
      #expect(found.failure == entry.triage)
      #expect(found.attempts == 2 && found.retryAt == "2026-11-20T03:00:00.000Z")
      let later = Sample.run(9, Sample.attempt("scan", .made))
      var done = entry
      done.stages = Sample.entry().stages
      #expect(condition(done, runs: [later]).state == .done)
      #expect(condition(done, runs: [later]).attempts == 0)
      #expect(condition(entry, runs: [Sample.run(1, Sample.attempt("scan", .made))]).state != .done)
    }
  }

  @Test("Without triage the last run says why, and how often in a row")
  func runs() {
    func failed(_ hour: Int) -> RunEntry {
      Sample.run(
        hour,
        Sample.attempt("scan", .failed) {
          $0.why.cause = .input
          $0.failures = [.init(stage: "depth", message: "a.depth: cut", cause: .input)]
        })
    }
    let entry = Sample.entry(stages: [.done, .failed])
    let interrupted = Sample.run(4, Sample.attempt("scan", .interrupted))
    let found = condition(
      entry,
      runs: [Sample.run(1, Sample.attempt("scan", .made)), failed(2), failed(3), interrupted])
    #expect(found.state == .failed && found.attempts == 2)
    #expect(condition(entry, runs: [failed(3)]).failure?.cause == .input)
    #expect(condition(entry, runs: [failed(3)]).failure?.message == "a.depth: cut")
  }

  @Test(
    "The stage that failed is named, not one that it blocked; of several the one with the cause that decides"
  )
  func deciding() throws {
    let blocked = Failure(stage: "depth", message: "its input 'color' failed")
    let run = Sample.run(
      3,
      Sample.attempt("scan", .failed) {
        $0.why.cause = .machine
        $0.failures = [
          blocked, .init(stage: "color", message: "cut", cause: .input),
          .init(stage: "geo", message: "disk full", cause: .machine),
        ]
      })
    let entry = Sample.entry(stages: [.failed, .blocked, .failed]) {
      $0.failures = [
        Failure(stage: "color", message: "cut", cause: .input),
        Failure(stage: "geo", message: "disk full", cause: .machine),
      ]
    }
    let found = condition(entry, runs: [run])
    #expect(found.failure == Failure(stage: "geo", message: "disk full", cause: .machine))
    let history = try #require(OutputSnapshot.histories([run])["scan"])
    #expect(CaptureRow(history).failure?.stage == "geo")
    #expect(run.attempts[0].orderedFailures.map(\.stage) == ["color", "geo", "depth"])
  }

  @Test("An interrupt is no failure, a failure of the capture as a whole is one")
  func whole() {
    let entry = Sample.entry(stages: [.missing, .missing]) { $0.timings = [] }
    let interrupted = Sample.run(2, Sample.attempt("scan", .interrupted))
    #expect(condition(entry, runs: [interrupted]).state == .queued)
    let failed = Sample.run(
      2,
      Sample.attempt("scan", .failed) {
        $0.why.message = "no metadata"
        $0.why.cause = .input
      })
    #expect(condition(entry, runs: [failed]).state == .failed)
    #expect(condition(entry, runs: [failed]).failure?.message == "no metadata")
    // Killed before it said anything.
    #expect(condition(entry, runs: [Sample.run(2, Sample.attempt("scan", nil))]).state == .queued)
  }

  @Test("A capture whose place went before it was done has failed; done ones stay done")
  func gone() {
    let open = condition(Sample.entry(stages: [.done, .missing]) { $0.gone = true })
    #expect(open.state == .failed && open.gone && open.failure?.cause == .machine)
    let done = condition(Sample.entry { $0.gone = true })
    #expect(done.state == .done && done.gone)
  }

  @Test("Where STAGING itself is not there nothing is gone")
  func blind() throws {
    let record = WatchRecord(
      staging: "/nowhere/at all", started: "", lastLook: "2026-11-20T06:00:00Z")
    let view = OutputSnapshot(
      root: "/out", entries: [Sample.entry(stages: [.missing]) { $0.gone = true }], locked: [],
      runs: [], record: record, isWatcherAlive: true, now: 0)
    let found = try #require(view.rows.first)
    #expect(found.state == .queued && !found.gone)
  }

  @Test("What the watcher saw at another place of the same name is another capture")
  func namesakes() {
    var record = WatchRecord(
      staging: "/", started: "", lastLook: "2026-11-20T06:00:00.000Z",
      waiting: [Sample.waiting(.arriving, path: "/in/elsewhere")])
    record.stagingTrouble = nil
    let view = OutputSnapshot(
      root: "/out", entries: [Sample.entry()], locked: [], runs: [], record: record,
      isWatcherAlive: true, now: 0)
    #expect(
      view.rows.map(\.state) == [.done, .arriving] || view.rows.map(\.state) == [.arriving, .done])
    #expect(view.rows.count { $0.page == nil } == 1)
  }
}
