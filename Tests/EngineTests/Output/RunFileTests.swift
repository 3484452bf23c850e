import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What is read of a run's journal")
struct RunFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ bytes: [UInt8], _ name: String) throws -> FilePath {
    let run = OutputLayout.run("R", in: folder.path)
    try FileSystem.makeFolder(run)
    try OutputFile.write(bytes, to: run.appending(name))
    return run.appending(name)
  }

  @Test(
    "What a run writes is read back, with the captures; who ran it only where all of it is there")
  func writtenAndRead() throws {
    var report = RunReport(run: "R")
    report.captures = [
      CaptureReport(
        id: "a", path: "/in/a", family: "scannet", outcome: .failed, why: Failure(message: "m"))
    ]
    let program = ProgramIdentity(version: "1", commit: nil, libraries: [:])
    let context = RunContext(
      program: program,
      host: RunContext.Host(name: "lab", os: "o", cpu: "c", cores: 2, memoryBytes: 3),
      user: "u", commandLine: ["run"], pipeline: "default", path: nil, text: "p")
    let record = RunRecord(
      report: report, context: context, started: "s", finished: nil, seconds: 1)
    let bytes = try JSONText.pretty(record)
    _ = try write(bytes, OutputNames.run)
    let file = try #require(RunFile("R", in: folder.path))
    #expect(file.captures == report.captures)
    #expect(file.started == "s" && file.finished == nil)
    #expect(file.host?.name == "lab" && file.user == "u" && file.pipeline?.name == "default")
    #expect(try RunContext(json: bytes).commandLine == ["run"])

    let less = try RunFile(Array(#"{"started":"s","host":{"name":"lab"}}"#.utf8))
    #expect(less.host?.name == "lab" && less.captures == nil)
  }

  @Test(
    "What is no journal of ours gives nothing",
    arguments: ["", "{", "[]", #"{"captures":[{"id":"a"}]}"#])
  func damaged(text: String) throws {
    _ = try write(Array(text.utf8), OutputNames.run)
    #expect(RunFile("R", in: folder.path) == nil)
  }

  @Test(
    "Events of the kinds that are asked for are read in order; damaged and unended lines are left out"
  )
  func events() throws {
    func line(_ event: RunEvent) throws -> String {
      String(decoding: try JSONText.canonical(event), as: UTF8.self)
    }
    var tricky = RunEvent(kind: .progress, time: "2", capture: "a")
    tricky.message = #"says "kind":"capture-started""#
    let lines = [
      try line(RunEvent(kind: .captureStarted, time: "1", capture: "a")), try line(tricky), "{", "",
      #"{"kind":"capture-started"}"#,
      try line(RunEvent(kind: .finished, time: "3", capture: "a", stage: "color")),
      try line(RunEvent(kind: .captureFinished, time: "4", capture: "a")),
    ]
    let path = try write(
      Array((lines.joined(separator: "\n") + "\n" + lines[0]).utf8), OutputNames.events)
    let file = try FileDescriptor.open(path, .readOnly)
    defer { try? file.close() }
    var times: [String] = []
    RunEvent.read(file, of: [.captureStarted, .captureFinished]) { times.append($0.time) }
    #expect(times == ["1", "4"])
  }
}

@Suite("Files run.json that are damaged")
struct DamagedRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func id(_ number: Int) -> String { "2026112\(number)T020000-1-00000000-000001" }

  private func write(_ text: String, _ id: String, _ name: String = "run.json") throws {
    let run = folder.path.appending("runs").appending(id)
    if !FileSystem.exists(run) { try FileSystem.makeFolder(run) }
    try OutputFile.write(Array(text.utf8), to: run.appending(name))
  }

  private static let whole = #"{"started":"2026-11-20T02:00:00Z","captures":[]}"#

  @Test(
    "A file that is there and cannot be understood is damaged",
    arguments: [
      ("", true), ("{", true), ("[]", true), (#"{"started":1}"#, true),
      (String(whole.dropLast()), true), ("\u{0}\u{0}\u{0}", true), (whole, false), ("{}", false),
      (#"{"schema":99,"started":"2026-11-20T02:00:00Z","later":1}"#, false),
    ])
  func damaged(text: String, isDamaged: Bool) throws {
    try write(text, Self.id(1))
    let found = try DamagedRun.all(in: folder.path, known: [])
    #expect(found.count == (isDamaged ? 1 : 0))
    #expect(try DamagedRun.newest(in: folder.path) == found)
    guard let note = found.first?.note else { return }
    #expect(note.contains("runs/\(Self.id(1))/run.json is damaged: nothing of this run is known"))
  }

  @Test("Runs that began within one second come in the order in which they began")
  func order() throws {
    for (process, moment) in [(9, "100"), (10, "900"), (11, "500")] {
      try write(
        #"{"started":"2026-11-20T02:00:00.\#(moment)Z","captures":[]}"#,
        "20261120T020000-\(process)-00000000-000001")
    }
    let reader = OutputReader(
      OutputExaminer(
        captures: CaptureRegistry([]), stages: StageRegistry([]), chosen: nil,
        standard: PipelineDefinition(name: "none", stages: [])), signature: nil)
    let runs = try reader.view(of: folder.path).runs
    #expect(runs.map { RunID($0.id)?.process } == [9, 11, 10])
  }

  @Test("A run without the file, and a folder of somebody else, are not")
  func absent() throws {
    try write("{}", Self.id(1), "events.jsonl")
    try write("{", "notes of mine")
    #expect(try DamagedRun.all(in: folder.path, known: []) == [])
    #expect(try DamagedRun.newest(in: folder.path) == [])
  }

  @Test("Where the runs cannot be listed, it is not said that there are none")
  func unlistable() throws {
    try write("{}", Self.id(1))
    StorageFaults.setLooks(below: folder.path) { look, _ in look == .list ? .ioError : nil }
    defer { StorageFaults.setLooks(below: folder.path, nil) }
    #expect(throws: FileError.self) { try DamagedRun.all(in: folder.path, known: []) }
    #expect(throws: FileError.self) { try RunEntry.ids(in: folder.path) }
  }

  @Test("What the events tell is known, and the note says so")
  func events() throws {
    try write("{", Self.id(1))
    try write("{}", Self.id(1), "events.jsonl")
    let note = try #require(try DamagedRun.all(in: folder.path, known: []).first).note
    #expect(note.contains("only its events are known, not its pipeline"))
    #expect(note.contains("restore the file, or remove the folder"))
  }

  @Test("The newest are those behind the last file that is understood; of many five are named")
  func newest() throws {
    for number in 1...9 { try write(number == 3 ? Self.whole : "{", Self.id(number)) }
    let all = try DamagedRun.all(in: folder.path, known: [])
    #expect(all.count == 8)
    #expect(try DamagedRun.newest(in: folder.path) == Array(all.dropFirst(2)))
    let notes = DamagedRun.notes(all)
    #expect(notes.count == 6 && notes[4].contains(Self.id(9)))
    #expect(notes[5] == "3 older files run.json are damaged, too")
  }
}

@Suite("What is told of a capture that a batch system worked on")
struct ClusterTraceTests {
  private static func report(_ asked: AskedFor?, attempts: Int?) -> CaptureReport {
    var report = CaptureReport(id: "a", path: "/in/a", family: "scannet", outcome: .made)
    report.job = "12_3"
    report.node = "node1"
    report.attempts = attempts
    report.asked = asked
    return report
  }

  @Test("Where, at which attempt, and what was asked for against what was used")
  func words() throws {
    var asked = AskedFor(cores: 4, memoryBytes: 4_000_000_000, timeSeconds: 1800)
    asked.waitedSeconds = 11.2
    asked.usedSeconds = 75
    asked.usedMemoryBytes = 1_200_000_000
    let trace = try #require(ClusterTrace(Self.report(asked, attempts: 2)))
    #expect(
      trace.words
        == "job 12_3 on node1, attempt 2, waited 12 s; asked for 4 cores, 4.00 GB, 1800 s; used 75 s, 1.20 GB"
    )
  }

  @Test("Only what is known")
  func little() throws {
    let trace = try #require(ClusterTrace(Self.report(nil, attempts: nil)))
    #expect(trace.words == "job 12_3 on node1")
    #expect(ClusterTrace(CaptureReport(id: "a", path: "", family: nil, outcome: .made)) == nil)
  }
}

@Suite("Events, journal and report")
struct JournalTests {
  static let clock = RunClock(wallText: { "2026-01-24T10:11:12.345Z" }, monotonicSeconds: { 0 })

  @Test("Every job is planned once and finished once, between start and end of its capture")
  func events() throws {
    let workshop = try Workshop()
    try workshop.remove("color.bin")
    workshop.probe().before("aligned") { _ in throw FailureTests.Broken() }
    for _ in 0..<2 {
      let events = workshop.run().events
      #expect(events.first?.kind == .runStarted && events.last?.kind == .runFinished)
      #expect(events.last?.exit == 1)
      #expect(
        events[1].kind == .captureStarted && events[events.count - 2].kind == .captureFinished)
      for stage in workshop.pipeline.stages.map(\.name) {
        let own = events.filter { $0.stage == stage }.map(\.kind)
        #expect(own.first == .planned)
        #expect(own.count { $0 == .planned } == 1)
        #expect(own.count { $0 == .finished || $0 == .blocked } == 1)
        #expect(own.last == .finished || own.last == .blocked)
      }
    }
  }

  @Test(
    "A run whose run.json is damaged or missing is not gone on with: the error names file and remedy",
    arguments: ["", "{", "[]", #"{"captures":[]}"#, nil] as [String?])
  func damaged(text: String?) throws {
    let folder = try TemporaryFolder()
    let run = folder.path.appending("20261120T020000-1-00000000-000001")
    try FileSystem.makeFolder(run)
    if let text { try OutputFile.write(Array(text.utf8), to: run.appending("run.json")) }
    let error = try #require(
      #expect(throws: DamagedRun.self) { try RunJournal(resuming: run, clock: Self.clock) })
    #expect(error.description.contains("000001/run.json is missing or damaged"))
    #expect(error.description.contains("run again: what is published is kept"))
  }

  @Test("The wall clock prints UTC with milliseconds")
  func wallClock() {
    let text = RunClock.system.wallText()
    let shape = String(text.map { $0.isNumber ? "0" : $0 })
    #expect(shape == "0000-00-00T00:00:00.000Z")
    #expect(RunClock.system.monotonicSeconds() <= RunClock.system.monotonicSeconds())
  }

  @Test("Bytes written are those that lie in the output: removed intermediates are not among them")
  func bytesWritten() throws {
    let workshop = try Workshop()
    let report = workshop.run().report
    let stages = try #require(report.captures.first).stages
    #expect(stages.filter { $0.removed == true }.map(\.stage) == ["frames"])
    #expect((stages.first { $0.stage == "frames" }?.bytes ?? 0) > 0)
    let kept = stages.map(\.stage).filter { $0 != "frames" }
    let bytes = kept.reduce(Int64(0)) { sum, stage in
      sum + (workshop.record(stage)?.outputs.reduce(0) { $0 + $1.bytes } ?? 0)
    }
    #expect(report.totals.bytes == bytes && bytes > 0)
    // Nothing is written again.
    #expect(workshop.run().report.totals.bytes == 0)
  }

  @Test("What an interrupt keeps from being started is not counted as ended")
  func interrupted() throws {
    let workshop = try Workshop()
    for name in ["a", "b", "c"] { try workshop.add(name) }
    let targets = workshop.batch(Selection(), { _ in }, clock: .system).targets(
      workshop.findings(nil))
    let log = EventLog()
    var builder = RunReportBuilder(
      targets, declined: [], run: TestRun.id(1), clock: .system, events: log)
    for index in [1, 3] { builder.skip(index, .interrupted) }
    for index in [0, 2] { builder.finish(index, CaptureOutcome(targets[index].skipped("x"))) }
    #expect(log.all.filter { $0.kind == .captureFinished }.map(\.done) == [1, 2])
    #expect(builder.close().captures.count == 4)
  }
}
