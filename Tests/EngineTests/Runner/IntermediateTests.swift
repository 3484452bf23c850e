import FoundationEssentials
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Intermediates that are removed after use")
struct IntermediateTests {
  static let chain = """
    schema: 1
    stages:
      raw: {uses: toy-frames, keep: false}
      fine: {uses: toy-refine, needs: [raw], keep: false}
      depth: {uses: toy-depth, needs: [fine]}
      aligned: {uses: toy-aligned, needs: [fine]}
    """

  @Test("They go when their readers are done, and count as up to date")
  func removed() throws {
    let workshop = try Workshop()
    workshop.probe().before("tables") { context in
      let frames = OutputLayout.folder(above: context).appending("frames")
      if FileSystem.exists(frames) { throw FailureTests.Broken() }
    }
    #expect(workshop.run().exit == 0)
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
    let second = workshop.run()
    #expect(second.busy() == [])
    #expect(second["scan"].stages[1].frames == 4)
    #expect(second.events.count { $0.kind == .finished && $0.stage == "frames" } == 1)
  }

  @Test("They go at the end of a run in which a reader has failed, and are made again for it")
  func failedReader() throws {
    let workshop = try Workshop()
    workshop.probe().before("aligned") { _ in throw FailureTests.Broken() }
    _ = workshop.run()
    #expect(!workshop.folders().contains("frames"))
    workshop.probe().before("aligned", nil)
    #expect(
      workshop.run().busy() == [
        "frames made outputs-missing", "aligned made never-built", "tables made input-rebuilt",
      ])
    #expect(!workshop.folders().contains("frames"))
  }

  @Test(
    "One is rebuilt when a reader needs it, also under --only, and removed again",
    arguments: [true, false])
  func rebuilt(only: Bool) throws {
    let workshop = try RerunTests.done()
    try FileSystem.remove(workshop.layout().artifact("aligned"))
    let result = workshop.run(only ? .only("aligned") : Selection())
    #expect(result.busy() == ["frames made outputs-missing", "aligned made never-built"])
    #expect(result.exit == 0)
    #expect(workshop.probe().takeRan() == ["aligned", "frames"])
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
    #expect(workshop.run().busy() == [])
  }

  @Test("A chain of them is rebuilt as far as it is needed")
  func chained() throws {
    let workshop = try RerunTests.done(Self.chain)
    #expect(workshop.folders() == ["aligned", "capture.json", "depth"])
    #expect(
      workshop.run(.forced("depth")).busy() == [
        "raw made outputs-missing", "fine made outputs-missing", "depth made forced",
      ])
    #expect(workshop.folders() == ["aligned", "capture.json", "depth"])
  }

  @Test("One that proves up to date at its turn is still rebuilt for a reader that must run")
  func upToDateAndDemanded() throws {
    let workshop = try RerunTests.done(Self.chain)
    // Often: `aligned`, which has nothing to do, looks for `fine` while that is made again.
    for _ in 0..<Rounds.of(6, soak: 20) {
      // `raw` runs and makes the same: `fine` has nothing to do, but `depth` must run and needs it.
      let result = workshop.run(.forced("raw", "depth"))
      #expect(
        result.busy() == ["raw made forced", "fine made outputs-missing", "depth made forced"])
      #expect(workshop.run(.forced("raw")).busy() == ["raw made forced"])
      #expect(workshop.folders() == ["aligned", "capture.json", "depth"])
    }
  }

  @Test("One that fails when it is rebuilt blocks who asked for it")
  func failing() throws {
    let workshop = try RerunTests.done(Self.chain)
    workshop.probe().before("raw") { _ in throw FailureTests.Broken() }
    let result = workshop.run(.forced("depth", "aligned"))
    #expect(
      result.stages() == [
        "raw failed outputs-missing", "fine blocked", "depth blocked", "aligned blocked",
      ])
    #expect(result.exit == 1)
    workshop.probe().before("raw", nil)
    #expect(workshop.run(.forced("depth", "aligned")).exit == 0)
  }

  /// As another run that works on the same output and has no use for it any more.
  private final class OtherRun: EventSink {
    private let layout: OutputLayout
    private let left: Mutex<Int>

    init(_ layout: OutputLayout, removes times: Int) {
      self.layout = layout
      left = Mutex(times)
    }

    func send(_ event: RunEvent) {
      guard event.kind == .finished, event.stage == "frames",
        left.withLock({ left in
          left -= 1
          return left >= 0
        }), let output = try? CaptureOutput(existing: layout)
      else { return }
      try? ArtifactStore(layout).removeIntermediate("frames", in: output, attempt: "other")
    }
  }

  @Test(
    "One that another run removes is built again; always removed, its readers fail by the machine")
  func removedByOthers() throws {
    let workshop = try Workshop()
    let once = workshop.run(events: OtherRun(workshop.layout(), removes: 1))
    #expect(once.exit == 0, "\(once.busy())")
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])

    let again = try Workshop()
    let always = again.run(events: OtherRun(again.layout(), removes: .max))
    #expect(always.exit == 1, "\(always.busy())")
    let depth = try #require(always["scan"].stages.first { $0.stage == "depth" })
    #expect(depth.outcome == .failed && depth.why.cause == .machine, "\(depth)")
    #expect(depth.why.message?.contains("was there and is gone") == true, "\(depth)")
    #expect(again.run().exit == 0)
  }

  @Test("A stale one is rebuilt for its own reason; its reader is blocked under --only")
  func stale() throws {
    let workshop = try RerunTests.done()
    try workshop.write("abyss", to: "depth.bin")
    #expect(workshop.run(.only("aligned")).stages() == ["aligned blocked"])
    #expect(
      workshop.run(.only("depth")).stages() == [
        "frames made input-changed", "depth made input-rebuilt",
      ])
    // `aligned` has not read the new ones yet.
    #expect(workshop.run().busy().contains("aligned made input-rebuilt"))
  }
}

extension OutputLayout {
  /// The capture's output folder, from a stage that runs in it.
  static func folder(above context: StageContext) -> FilePath {
    context.staging.path.removingLastComponent().removingLastComponent()
  }
}

@Suite("When an intermediate is no longer needed")
struct IntermediateRemovalTests {
  /// `frames` is read by `depth` and `aligned`.
  @Test(
    "It goes when all in the run that read it are done, at the end of the run at the latest",
    arguments: [
      (Scheduler.State.ended(.made), Scheduler.State.ended(.made), false, true),
      (.ended(.upToDate), .ended(.notPossible), false, true),
      (.ended(.made), .running, false, false), (.ended(.made), .waiting, false, false),
      // A failed reader may be tried again until the end.
      (.ended(.made), .ended(.failed), false, false), (.ended(.made), .ended(.failed), true, true),
      (.ended(.made), .ended(.interrupted), true, true),
      // A dormant reader may still be demanded until the end.
      (.ended(.made), .dormant, false, false), (.ended(.made), .dormant, true, true),
      // A reader that is no part of the run.
      (.ended(.made), nil, false, true),
    ] as [(Scheduler.State, Scheduler.State?, Bool, Bool)])
  func readers(
    depth: Scheduler.State, aligned: Scheduler.State?, isLast: Bool, goes: Bool
  ) throws {
    let pipeline = try PipelineReader.read(Workshop.usual, file: "toy.yaml", registry: .toys)
    var states: [String: Scheduler.State] = ["frames": .ended(.made), "depth": depth]
    states["aligned"] = aligned
    #expect(pipeline.removableIntermediates(states, isLast: isLast) == (goes ? ["frames"] : []))
    states["frames"] = .running
    #expect(pipeline.removableIntermediates(states, isLast: isLast) == [])
  }

  @Test("What nothing reads goes at the end of the run")
  func unread() throws {
    let pipeline = try PipelineReader.read(
      "schema: 1\nstages:\n  frames: {uses: toy-frames, keep: false}\n", file: "toy.yaml",
      registry: .toys)
    #expect(pipeline.removableIntermediates(["frames": .ended(.made)], isLast: false) == [])
    #expect(pipeline.removableIntermediates(["frames": .ended(.made)], isLast: true) == ["frames"])
  }
}

@Suite("The report that the stages of a capture add up to")
struct CaptureResultsTests {
  private static func report(
    _ outcomes: [RunOutcome], isStrict: Bool = false, warnings: [CaptureWarning] = []
  ) -> CaptureReport {
    let results = outcomes.enumerated().map { number, outcome in
      var result = JobResult(
        report: StageReport(stage: "s\(number)", uses: "toy", outcome: outcome))
      result.warnings = number == 0 ? warnings : []
      return result
    }
    var report = CaptureReport(id: "scan", path: "/in", family: nil, outcome: .upToDate)
    report.take(
      results, found: [CaptureWarning(.frameGap, "color", count: 1, "a gap")], isStrict: isStrict)
    return report
  }

  @Test(
    "The worst of its stages is the outcome of a capture",
    arguments: [
      ([.made, .upToDate, .notPossible], .made), ([.made, .blocked], .blocked),
      ([.failed, .blocked], .failed), ([], .upToDate), ([.upToDate, .notPossible], .upToDate),
      ([.made, .interrupted], .interrupted), ([.failed, .interrupted], .failed),
    ] as [([RunOutcome], RunOutcome)])
  func outcome(stages: [RunOutcome], outcome: RunOutcome) {
    let report = Self.report(stages)
    #expect(report.outcome == outcome)
    #expect(report.stages.map(\.outcome) == stages)
  }

  @Test("Warnings of opening and of the stages stand in it, and fail a strict run only")
  func strict() {
    let more = [CaptureWarning(.emptyRecord, "color", count: 2, "empty")]
    let report = Self.report([.upToDate], isStrict: true, warnings: more)
    #expect(report.warnings.map(\.code) == [.frameGap, .emptyRecord])
    #expect(report.outcome == .failed)
    #expect(
      report.why.message
        == "--strict: there are 2 kinds of warnings, 3 occurrences; run without it to accept them")
    #expect(Self.report([.upToDate], warnings: more).outcome == .upToDate)
    // What failed for a better reason says that.
    #expect(Self.report([.failed], isStrict: true).why.message == nil)
  }

  @Test("The cause of its failures that decides stands in it")
  func causes() {
    let results = [("a", FailureSide.input, Errno.isDirectory), ("b", .output, .noSpace)].map {
      name, side, errno in
      var result = JobResult(report: StageReport(stage: name, uses: "toy", outcome: .failed))
      result.report.why = FailureTable.failure(side, errno)
      return result
    }
    var report = CaptureReport(id: "scan", path: "/in", family: nil, outcome: .made)
    report.take(results, found: [], isStrict: false)
    #expect(report.stages.map(\.why.cause) == [.input, .machine] && report.why.cause == .machine)
  }
}
