@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
