import Core
import FoundationEssentials
import Testing

@testable import Captures
@testable import Engine
@testable import Pages

@Suite("Texts about runs, plans, pipelines and stages")
struct ReportTextTests {
  static func stage(
    _ name: String, _ outcome: RunOutcome, frames: Int? = nil, _ message: String? = nil
  )
    -> StageReport
  {
    var report = StageReport(stage: name, uses: "make-\(name)", outcome: outcome)
    report.frames = frames
    report.why.message = message
    return report
  }

  static func capture(
    _ id: String, _ outcome: RunOutcome, _ stages: [StageReport],
    _ message: String? = nil
  ) -> CaptureReport {
    var report = CaptureReport(
      id: id, path: "/in/\(id)", family: "scannet", outcome: outcome,
      why: Failure(message: message))
    report.stages = stages
    return report
  }

  @Test("The summary line counts what ended well among what applies")
  func summaryLine() {
    let lines = [
      Self.capture(
        "a", .made,
        [Self.stage("x", .made), Self.stage("y", .upToDate), Self.stage("z", .notPossible)]),
      Self.capture(
        "b", .failed, [Self.stage("x", .failed), Self.stage("y", .blocked), Self.stage("z", .made)]),
      Self.capture("c", .blocked, [Self.stage("x", .blocked)]),
      Self.capture("d", .skipped, []),
      Self.capture("e", .interrupted, [Self.stage("x", .interrupted), Self.stage("y", .made)]),
    ].map(RunSummary.line)
    #expect(
      lines == [
        "a made 2/2", "b failed 1/3", "c blocked 0/1",
        #"d skipped 0/0 note="no stage was started""#, "e interrupted 1/2",
      ])
  }

  static let plans = [
    CapturePlan(
      id: "a",
      jobs: [
        PlannedJob(stage: "color", uses: "decode-color", action: .upToDate),
        PlannedJob(
          stage: "depth", uses: "export", action: .run, reason: .parameters,
          details: ["range: none -> 1.0m..2.0m", "mode: fast -> slow"]),
        PlannedJob(stage: "geo", uses: "geo", action: .notApplicable, details: ["no positions"]),
        PlannedJob(stage: "x", uses: "x", action: .blocked, details: ["its input 'y' is blocked"]),
      ]),
    CapturePlan(id: "b", jobs: [], error: "b.txt: no such file"),
    CapturePlan(id: "c", jobs: [], error: "out/c: cannot be written: holds x", refusal: 73),
  ]

  @Test("A plan lists jobs with reasons, and counts")
  func plan() throws {
    #expect(
      try VerbTextTests.printed(Self.plans, json: false) == """
        a
          color: up-to-date
          depth: run, parameters (range: none -> 1.0m..2.0m; mode: fast -> slow)
          geo: not-applicable (no positions)
          x: blocked (its input 'y' is blocked)
        b
          cannot be read: b.txt: no such file
        c
          out/c: cannot be written: holds x
        3 captures: 1 run, 1 blocked, 1 unreadable
        stages: 1 run, 1 up-to-date, 1 blocked, 1 not-applicable
        reasons: 1 parameters

        """)
  }

  static func pipeline() throws -> PipelineDefinition {
    try PipelineReader.read(
      """
      schema: 1
      stages:
        frames: {uses: make-frames, keep: false}
        a-b: {uses: export, needs: [frames]}
        a_b: {uses: export, needs: [frames]}
        tables: {uses: tables, optional: [a-b]}
      """, file: "test.yaml",
      registry: StageRegistry([MakeFrames.self, Export.self, Tables.self]))
  }

  @Test("A pipeline as a drawing for each program")
  func graphs() throws {
    let pipeline = try Self.pipeline()
    #expect(
      GraphText.text(pipeline, as: .text) == """
        frames (make-frames) [removed after use]
        a-b (export) needs frames
        a_b (export) needs frames
        tables (tables) uses if there: a-b
        """)
    #expect(
      GraphText.text(pipeline, as: .mermaid) == """
        flowchart LR
          s0["frames<br/>make-frames"]
          s1["a-b<br/>export"]
          s2["a_b<br/>export"]
          s3["tables<br/>tables"]
          s0 --> s1
          s0 --> s2
          s1 -.-> s3
        """)
    #expect(
      GraphText.text(pipeline, as: .dot) == #"""
        digraph pipeline {
          rankdir=LR;
          node [shape=box];
          "frames" [label="frames\nmake-frames", style=dashed];
          "a-b" [label="a-b\nexport"];
          "a_b" [label="a_b\nexport"];
          "tables" [label="tables\ntables"];
          "frames" -> "a-b";
          "frames" -> "a_b";
          "a-b" -> "tables" [style=dashed];
        }
        """#)
  }

  @Test("The stages in one line each, or one of them in full")
  func stageHelp() {
    #expect(
      StageHelp([MakeFrames.self, Export.self]).text == """
        make-frames  Makes frames.
        export       Writes pictures.
        """)
    #expect(
      StageHelp([MakeFrames.self]).text == """
        make-frames (version 3)
          Makes frames.
        parameters
          range                   two lengths with their units, such as 0.3m..4m; default not set
                                  What counts.
          mode                    fast|slow; default fast
                                  Which way.
          every                   a whole number from 1; default 1
                                  Every n-th frame.
          window                  a duration with its unit, such as 50ms, up to 1m; default 50ms
                                  How far samples may be.
        """)
    #expect(
      StageHelp([Export.self]).text == """
        export (version 1)
          Writes pictures.
        inputs
          frames                  depth-frames: decoded depth
          mask                    confidence-images, optional: what to leave out
        no parameters
        """)
  }

  @Test("The stages as JSON")
  func stageJSON() throws {
    #expect(
      String(decoding: try JSONText.canonical(StageHelp([Export.self])), as: UTF8.self) == """
        {"schema":1,"stages":[{"inputs":[{"accepts":"depth-frames","name":"frames",\
        "required":true,"sentence":"decoded depth"},{"accepts":"confidence-images","name":"mask",\
        "required":false,"sentence":"what to leave out"}],"name":"export","parameters":[],\
        "sentence":"Writes pictures.","version":1}]}
        """)
  }
}

@Suite("Short ids, and ids that are given by their beginning")
struct ShortIDTests {
  @Test(
    "An id is cut where no other begins the same, after 12 characters at the least",
    arguments: [
      (["a", "b"], ["a", "b"]), (["abcdefghijklm"], ["abcdefghijklm"]),
      (["abcdefghijklmn"], ["abcdefghijkl…"]),
      (
        ["abcdefghijklmn-1xxx", "abcdefghijklmn-2xxx"], ["abcdefghijklmn-1…", "abcdefghijklmn-2…"]
      ),
      // One begins the other.
      (["abcdefghijklmno", "abcdefghijklmno-and-more"], ["abcdefghijklmno", "abcdefghijklmno-…"]),
      (["客厅的扫描一二三四五六七八九", "客厅的扫描一二三四五六七八十"], ["客厅的扫描一二三四五六七八九", "客厅的扫描一二三四五六七八十"]),
      (["x", "x"], ["x", "x"]),
    ])
  func short(_ ids: [String], _ expected: [String]) {
    let short = ShortIDs(ids)
    #expect(ids.map { short[$0] } == expected)
    // Whatever is shown finds its way back.
    for id in ids { #expect(IDPrefix.match(short[id], among: Set(ids)) == .one(id)) }
  }

  @Test("Ten thousand ids of one app are distinguished")
  func many() {
    let ids = (0..<10_000).map { "2026-11-23_09-55-14__\($0 * 7919)-A8ECBA23-EFA8-4B99" }
    let short = ShortIDs(ids)
    #expect(Set(ids.map { short[$0] }).count == ids.count)
  }

  @Test(
    "The beginning of an id is enough where it is the only one",
    arguments: [
      ("scan-1", .one("scan-1")), ("scan-12", .one("scan-12")), ("scan-13", .one("scan-13-a")),
      ("scan-13…", .one("scan-13-a")), ("scan-13...", .one("scan-13-a")), ("x", .none), ("", .none),
      ("…", .none), ("scan", .several(["scan-1", "scan-12", "scan-13-a"])),
    ] as [(String, IDPrefix.Match)])
  func prefix(_ text: String, _ match: IDPrefix.Match) {
    #expect(IDPrefix.match(text, among: ["scan-13-a", "scan-1", "scan-12"]) == match)
  }
}
