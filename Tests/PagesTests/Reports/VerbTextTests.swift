import Captures
import Core
import FoundationEssentials
@testable import Engine
@testable import Pages
import SystemPackage
import TestSupport
import Testing

@Suite("Texts of status, plans and inspect")
struct VerbTextTests {
  static func stage(
    _ name: String, _ state: StageState, _ reason: Reason? = nil, _ details: String? = nil
  ) -> StageStatus {
    StageStatus(stage: name, uses: "u", state: state, reason: reason, details: details)
  }

  static let answer = StatusAnswer(
    rows: [
      CaptureRow(
        id: "a", state: .done,
        stages: [
          stage("color", .done), stage("depth", .stale, .parameters, "range: none -> 1m"),
          stage("geo", .notApplicable, nil, "no positions"),
          StageStatus(stage: "depth-frames", uses: "u", state: .done, isInner: true),
        ]),
      CaptureRow(
        id: "long-name", state: .failed, lockedBy: "scanmill run 7",
        notes: ["its input is gone: /in/b"],
        stages: [
          stage("color", .failed, .neverBuilt, "b.h264: no picture\nlog"),
          stage("depth", .blocked, nil, "its input 'color' failed"),
          stage("tables", .missing, .neverBuilt),
        ], failure: Failure(stage: "color", message: "b.h264: no picture\nlog", cause: .input)),
      CaptureRow(id: "c", state: .done, stages: [stage("color", .done)]),
    ], watch: nil, unrecognized: [])

  @Test("Inspect counts what came past the upload server as not compared")
  func compared() throws {
    let folder = try TemporaryFolder()
    let files = ["a.imu", "b.imu"].map { folder.path.appending($0) }
    for file in files { try file.write("x") }
    let stamp = try #require(FileStamp(of: files[0]))
    let time = UTCText.exact(nanoseconds: stamp.modifiedNanoseconds)
    try folder.path.appending(UploadManifest.fileName).write(
      """
      {"schema": 1, "complete": "\(time)", "files":
        [{"name": "a.imu", "bytes": 1, "state": "verified", "modified": "\(time)"}]}
      """)
    var capture = Capture(
      id: "c", family: .scannet, generation: "v1", folder: folder.path,
      clock: CaptureClock(.uptime, unit: "s"))
    capture.files[.imu] = files
    let text = InspectionPage.text(capture, StreamScan(), calibration: [])
    #expect(text.contains("has compared the contents of 1 of 2"), "\(text)")
  }

  @Test(
    "The table of status has the stages of all captures, in as many pieces as the columns of the terminal need"
  )
  func statusTable() {
    #expect(
      Self.answer.text(columns: 80, all: true).contains(
        """
        capture    state   color   depth    geo  tables
        a          done    done    stale    -
        long-name  failed  failed  blocked       missing
        c          done    done
        """))
    #expect(
      Self.answer.text(columns: 30, all: true).contains(
        """
        capture    state   color
        a          done    done
        long-name  failed  failed
        c          done    done

        capture    depth    geo
        a          stale    -
        long-name  blocked
        c

        capture    tables
        a
        long-name  missing
        c
        """))
  }

  @Test("Status tells of what is not simply done, why, in lines that fit")
  func statusDetails() {
    #expect(
      Self.answer.text(columns: 34, all: false).contains(
        """
        a
          depth stale: parameters, range:
              none -> 1m

        long-name  failed
          failed (input): b.h264: no
              picture log
          being worked on by scanmill run
              7
          its input is gone: /in/b
          color failed: as above
          depth blocked: its input 'color'
              failed
          tables missing
        """))
  }

  @Test("Captures of which status says the same stand together, unless all is asked for")
  func sameLines() {
    var answer = Self.answer
    for (id, stage) in [("d", "depth"), ("e", "color"), ("f", "depth")] {
      answer.rows.append(
        CaptureRow(id: id, state: .done, stages: [Self.stage(stage, .missing, .neverBuilt)]))
    }
    let both = CaptureRow(
      id: "g", state: .done,
      stages: ["depth", "color"].map { Self.stage($0, .missing, .neverBuilt) })
    #expect(
      StatusAnswer(rows: [both], watch: nil, unrecognized: []).text(columns: 80, all: false)
        .contains("g\n  depth, color missing"))
    #expect(
      answer.text(columns: 80, all: false).contains(
        """
        d
        f
          depth missing

        e
          color missing
        """))
    #expect(answer.text(columns: 80, all: true).hasSuffix("f\n  depth missing"))
    let others = (0..<20).map { number in
      CaptureRow(id: "g\(number)", state: .done, stages: [Self.stage("depth", .missing)])
    }
    answer.rows += others
    #expect(
      answer.text(columns: 80, all: false).contains(
        """
        g17
        and 2 more (--all lists them)
          depth missing
        """))
  }

  static let plans = [
    CapturePlan(
      id: "a",
      jobs: [
        PlannedJob(stage: "x", uses: "u", action: .run, reason: .forced),
        PlannedJob(stage: "y", uses: "u", action: .upToDate),
      ]),
    CapturePlan(id: "b", jobs: [], error: "gone"),
  ]

  /// What the printer writes.
  static func printed(_ plans: [CapturePlan], json: Bool) throws -> String {
    var bytes: [UInt8] = []
    var printer = PlanPrinter(json: json) { bytes += $0 }
    for plan in plans { try printer.print(printer.render(plan)) }
    try printer.finish()
    #expect(printer.unreadable == plans.count { $0.error != nil && $0.refusal == nil })
    #expect(printer.refusals == Set(plans.compactMap(\.refusal)))
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("Plans printed one by one are one JSON object", arguments: [0, 1, 2])
  func printer(_ count: Int) throws {
    let plans = Array(Self.plans.prefix(count))
    let decoder = JSONDecoder()
    let captures = try plans.map {
      try decoder.decode(JSONValue.self, from: Data(JSONText.canonical(PlannedCapture($0))))
    }
    #expect(
      try decoder.decode(JSONValue.self, from: Data(Self.printed(plans, json: true).utf8))
        == .object([
          "schema": .integer(1), "captures": .array(captures),
          "comparedWith": .string("command-line"),
        ]))
  }

  @Test("Captures with the same plan stand in one line, without steps inside of stages")
  func groups() throws {
    func plan(_ id: String, _ jobs: PlannedJob...) -> CapturePlan {
      CapturePlan(id: id, jobs: jobs, inner: ["inner"])
    }
    var imu = PlannedJob(stage: "imu", uses: "u", action: .run, reason: .parameters)
    imu.details = ["window: 50ms -> 20ms"]
    let inner = PlannedJob(stage: "inner", uses: "u", action: .run, reason: .neverBuilt)
    let done = PlannedJob(stage: "imu", uses: "u", action: .upToDate)
    var bytes: [UInt8] = []
    var printer = PlanPrinter(json: false, isVerbose: false) { bytes += $0 }
    for plan in [plan("a", done), plan("b", imu, inner), plan("c", imu), plan("d", inner, done)] {
      try printer.print(printer.render(plan))
    }
    try printer.finish()
    #expect(
      String(decoding: bytes, as: UTF8.self).hasPrefix(
        "2 captures: imu (window 50ms → 20ms)\n2 up to date\n4 captures: "))
    bytes = []
    printer = PlanPrinter(json: false, isVerbose: false) { bytes += $0 }
    var loses = plan("a", done)
    loses.removedResults = [RemovedResult(stage: "aligned", reason: "no depth", files: 1, bytes: 1)]
    try printer.print(printer.render(loses))
    try printer.finish()
    #expect(
      String(decoding: bytes, as: UTF8.self).hasPrefix(
        "1 up to date\nwould be removed: aligned of 1 capture (no depth), 1 file\n1 capture: "))
  }

  @Test("Reasons are counted")
  func reasons() throws {
    #expect(
      try Self.printed(Self.plans, json: false).hasSuffix(
        "2 captures: 1 run, 1 unreadable\nstages: 1 run, 1 up-to-date, 0 blocked, 0 not-applicable\n"
          + "reasons: 1 forced\n"))
  }
}
