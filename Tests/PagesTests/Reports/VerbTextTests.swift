import FoundationEssentials
@testable import Engine
@testable import Pages
import Testing

@Suite("Texts of status and plans")
struct VerbTextTests {
  static func stage(
    _ name: String, _ state: StageState, _ reason: Reason? = nil, _ details: String? = nil
  ) -> StageStatus {
    StageStatus(stage: name, uses: "u", state: state, reason: reason, details: details)
  }

  static let status = StatusText([
    CaptureStatus(
      id: "a", path: "/in/a", family: "scannet", pipeline: "default.yaml",
      stages: [
        stage("color", .done), stage("depth", .stale, .parameters, "range: none -> 1m"),
        stage("geo", .notApplicable, nil, "no positions"),
      ]),
    CaptureStatus(
      id: "long-name", path: "/in/b", family: nil, pipeline: "other.yaml", inputGone: true,
      lockedBy: "scanmill run 7", notes: ["its input is gone: /in/b"],
      stages: [
        stage("color", .failed, .neverBuilt, "b.h264: no picture"),
        stage("depth", .blocked, nil, "its input 'color' failed"),
        stage("tables", .missing, .neverBuilt),
      ]),
    CaptureStatus(
      id: "c", path: nil, family: nil, pipeline: "default.yaml", stages: [stage("color", .done)]),
  ])

  @Test("Status is a table, counts, and what is not done with the reason")
  func statusText() {
    #expect(
      Self.status.text == """
        capture    color   depth    geo  tables
        a          done    stale    -
        long-name  failed  blocked       missing
        c          done

        stages: 2 done, 1 stale, 1 failed, 1 blocked, 1 missing, 1 not-applicable

        a
          depth stale: parameters, range: none -> 1m

        long-name
          being worked on by scanmill run 7
          its input is gone: /in/b
          color failed: b.h264: no picture
          depth blocked: its input 'color' failed
          tables missing
        """)
  }

  @Test("Status as JSON has a state for every stage")
  func statusJSON() throws {
    let text = String(decoding: try JSONText.canonical(Self.status), as: UTF8.self)
    #expect(
      text.contains(
        #"{"details":"range: none -> 1m","reason":"parameters","stage":"depth","state":"stale","uses":"u"}"#
      ))
    #expect(text.contains(#""state":"not-applicable""#) && text.hasSuffix(#""schema":1}"#))
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
    #expect(printer.unreadable == plans.count { $0.error != nil })
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("Plans printed one by one are those printed at once", arguments: [0, 1, 2])
  func printer(_ count: Int) throws {
    let plans = Array(Self.plans.prefix(count))
    #expect(try Self.printed(plans, json: false) == PlanText(plans).text + "\n")
    let decoder = JSONDecoder()
    #expect(
      try decoder.decode(JSONValue.self, from: Data(Self.printed(plans, json: true).utf8))
        == decoder.decode(JSONValue.self, from: Data(JSONText.canonical(PlanText(plans)))))
  }

  @Test("Reasons are counted")
  func reasons() {
    #expect(
      PlanText(Self.plans).text.hasSuffix(
        "2 captures: 1 run, 1 unreadable\nstages: 1 run, 1 up-to-date, 0 blocked, 0 not-applicable\n"
          + "reasons: 1 forced"))
  }
}
