@testable import Captures
@testable import Engine
@testable import Pages
import SystemPackage
import TestSupport
import Testing

@Suite("What a run says at its end")
struct RunSummaryTests {
  private typealias Texts = ReportTextTests

  private static let warning = CaptureWarning(.missingFile, "x", "x is missing")
  private static let note = CaptureWarning(.unknownKey, "x", "unknown keys")

  private static func report(
    _ captures: [CaptureReport], wallSeconds: Double = 250,
    unrecognized: [RunReport.Unrecognized] = []
  ) -> RunReport {
    var report = RunReport(run: "r")
    report.captures = captures
    report.unrecognized = unrecognized
    report.totals = RunTotals(
      captures, unrecognized: unrecognized.count, seconds: wallSeconds)
    return report
  }

  private static func done(
    _ id: String, frames: Int = 100, warnings: [CaptureWarning] = [], missing: [String] = []
  ) -> CaptureReport {
    var capture = Texts.capture(
      id, .made,
      [Texts.stage("color", .made, frames: frames), Texts.stage("depth", .made, frames: 3)]
    )
    capture.warnings = warnings
    capture.missing = missing
    return capture
  }

  /// A capture of which a choice of frames leaves none for a stage.
  private static var nothingLeft: CaptureReport {
    var capture = Texts.capture(
      "a", .upToDate,
      [Texts.stage("color", .notPossible, "no frame is left"), Texts.stage("depth", .upToDate)])
    capture.warnings = [CaptureWarning(.nothingLeft, "color", "no frame is left")]
    return capture
  }

  private static func failed(
    _ id: String, _ message: String, cause: FailureCause? = .input
  ) -> CaptureReport {
    var capture = Texts.capture(
      id, .failed,
      [
        Texts.stage("depth", .made, frames: 10), Texts.stage("color", .failed, message),
        Texts.stage("tables", .blocked, "its input 'color' failed"),
      ])
    capture.why.cause = cause
    return capture
  }

  @Test("The line for scripts carries warnings, missing files and the cause behind the numbers")
  func words() {
    var incomplete = Self.done(
      "a", warnings: [Self.warning, Self.note], missing: [".h264", ".imu", "my file,1.mov"])
    #expect(
      RunSummary.line(incomplete)
        == "a made 2/2 warnings=1 occurrences=1 missing=.h264,.imu,my%20file%2C1.mov")
    incomplete.missing = []
    incomplete.warnings = [Self.note]
    #expect(RunSummary.line(incomplete) == "a made 2/2")
    #expect(RunSummary.line(Self.failed("b", "x")) == "b failed 1/3 cause=input")
  }

  private static func notMade(
    _ id: String, _ stages: [(String, String?)], askedByName: Bool = true
  ) -> CaptureReport {
    Texts.capture(
      id, askedByName ? .notPossible : .upToDate,
      stages.map { name, reason in
        var stage = Texts.stage(name, .notPossible, reason)
        stage.askedByName = askedByName ? true : nil
        return stage
      })
  }

  @Test("What was requested by name and not made ends the line, as one field of logfmt")
  func notMadeWords() {
    #expect(
      RunSummary.line(Self.notMade("a", [("export-tum", "no times"), ("export-ply", nil)]))
        == #"a not-possible 0/0 not-made=export-tum,export-ply "#
        + #"note="export-tum: no times; export-ply: not possible""#)
    #expect(
      RunSummary.line(Self.notMade("a", [("x", "a \"b\\c\"\nd")]))
        == #"a not-possible 0/0 not-made=x note="x: a \"b\\c\"\\u{A}d""#)
    // Not asked for by name, but nothing else either.
    #expect(
      RunSummary.line(Self.notMade("a", [("imu", "no IMU")], askedByName: false))
        == #"a up-to-date 0/0 note="imu: no IMU""#)
    var some = Self.done("b")
    some.stages += Self.notMade("b", [("imu", "no IMU")], askedByName: false).stages
    #expect(RunSummary.line(some) == "b made 2/2")
  }

  @Test("Captures that lack the same are named on one line, before the totals")
  func notMadeLines() {
    let report = Self.report([
      Self.notMade("a", [("export-tum", "no times"), ("export-ply", "no depth")]),
      Self.notMade("b", [("export-tum", "no times")]),
      Self.notMade("d", [("export-sens", "no depth"), ("export-ply", "no depth")]),
      Self.notMade("c", [("export-kml", "no position")], askedByName: false),
    ])
    #expect(
      RunSummary.closing(report, output: nil, areNamed: true).lines.map(
        String.init)
        == [
          "not made: export-tum, no times: a, b", "not made: export-ply, no depth: a",
          "not made: export-sens and export-ply, no depth: d",
          "4 captures: 1 done, 3 not possible · nothing to do · 4 min 10 s",
        ])
  }

  @Test("Results that went are told in one line per stage and reason, before the totals")
  func removedLines() {
    let removed = ["no intrinsics", "no depth"].map {
      RemovedResult(stage: "aligned", reason: $0, files: 12, bytes: 1)
    }
    var captures = ["a", "b"].map { Self.done($0) }
    captures[0].removedResults = removed
    captures[1].removedResults = [removed[1]]
    let text = RunSummary.closing(Self.report(captures), output: nil, areNamed: true)
    #expect(
      text.hasPrefix(
        "removed: aligned of 1 capture (no intrinsics), 12 files\n"
          + "removed: aligned of 2 captures (no depth), 24 files\n2 captures: 2 done"), "\(text)")
  }

  @Test("What --only keeps from running is no failure, and what makes its inputs is said")
  func blockedAlone() {
    let stages = ["depth", "aligned"].map {
      Texts.stage($0, .blocked, "its input 'frames' is not up to date (never-built)")
    }
    let report = Self.report([Texts.capture("a", .blocked, stages)])
    #expect(
      RunSummary.closing(report, output: nil, areNamed: true).hasPrefix(
        """
        blocked: its input 'frames' is not up to date (never-built)
          stages depth, aligned
          Run it with `--until depth,aligned` in place of --only: that makes what it reads, too.
          capture a

        """), "\(RunSummary.closing(report, output: nil, areNamed: true))")
    #expect(
      report.captures[0].reasons.map(\.remedy) == [Remedy.ofBlocked(["depth", "aligned"])])
  }

  @Test("One line of totals, in captures, not in stages")
  func totals() {
    let captures =
      (0..<9).map { Self.done("d\($0)", frames: 133) }
      + [
        Self.done("w1", frames: 3, warnings: [Self.warning, Self.note]),
        Self.done("w2", frames: 4, warnings: [Self.warning, Self.warning]),
        Self.failed("f", "x", cause: nil),
      ]
    #expect(
      RunSummary.closing(Self.report(captures), output: nil, areNamed: true).lines
        .last == """
          12 captures: 11 done, 1 failed · 1 needs you · 4 min 10 s · 1,214 frames
          """)
    let lacking = Self.report(captures + [Self.done("l", missing: [".imu"])])
    let text = RunSummary.closing(lacking, output: nil, areNamed: true)
    #expect(text.contains("\n1 more capture needs you:\n  l: missing: .imu\n"), "\(text)")
  }

  @Test(
    "Every end of a capture has its words",
    arguments: [
      ([Self.done("a", frames: 0)], "1 capture: 1 done · 0.3 s · 3 frames"),
      (
        [Self.done("a", frames: 0, missing: [".h264"])],
        "1 capture needs you:\n  a: missing: .h264\n1 capture: 1 done · 1 needs you · 0.3 s · 3 frames"
      ),
      (
        [Self.done("a", missing: [".imu"]), Self.done("b", missing: [".h264"])],
        "2 captures need you:\n  a: missing: .imu\n  b: missing: .h264\n2 captures: 2 done · 2 need you · 0.3 s · 200 frames"
      ),
      (
        [Texts.capture("a", .upToDate, [Texts.stage("color", .upToDate)])],
        "1 capture: 1 done · nothing to do, everything is up to date · 0.3 s"
      ),
      ([Self.nothingLeft], "1 capture: 1 done · nothing to do · 0.3 s"),
      // A step inside of a stage was made again, and its results are the same.
      (
        [Texts.capture("a", .made, [Texts.stage("depth", .upToDate)])], "1 capture: 1 done · 0.3 s"
      ),
      (
        [Texts.capture("a", .interrupted, [Texts.stage("color", .interrupted)])],
        "interrupted: what is complete is kept; the same command does the rest\n1 capture: 1 interrupted · 1 needs you · 0.3 s"
      ),
    ])
  func ends(_ captures: [CaptureReport], _ line: String) {
    let report = Self.report(captures, wallSeconds: 0.3)
    #expect(RunSummary.closing(report, output: nil, areNamed: true) == line)
    #expect(!RunSummary.hasFailures(report))
  }

  @Test("Captures with the same cause are reported together: the problem first, the captures last")
  func grouped() {
    let ids = ["2026-11-23_09-55-14__A8ECBA23", "2026-11-24_10-01-00__A8ECBA23", "b"]
    let captures =
      ids.map { Self.failed($0, "/in/\($0)/rgb.mp4: no index (copy it again)") }
      + [Self.failed("c", "the disk is full", cause: .machine)]
    #expect(
      RunSummary.closing(Self.report(captures), output: nil, areNamed: true) == """
        input: /in/\(ids[0])/rgb.mp4: no index (copy it again) (the first of 3 captures with this failure)
          stage color; blocked by it: tables
          captures 2026-11-23_0…, 2026-11-24_1…, b
        machine: the disk is full
          stage color; blocked by it: tables
          capture c
        4 captures: 4 failed · 4 need you · 4 min 10 s · 40 frames
        """)
    // Nobody has named them yet.
    #expect(
      RunSummary.closing(Self.report(captures), output: nil, areNamed: false)
        .contains("captures \(ids.joined(separator: ", "))"))
  }

  @Test("One full disk is one block, whichever stages were stopped by it")
  func fullDisk() {
    let captures = (0..<13).map { number in
      Texts.capture(
        "c\(number)", .failed,
        [
          Texts.stage(
            "color", .failed,
            "/out/c\(number)/color/00\(number).png: cannot be written: no space left (free some)"),
          Texts.stage("depth", .failed, "/out/.staging: no space left: \(number) MB are free"),
        ])
    }.map { capture in
      var capture = capture
      capture.why.cause = .machine
      for index in capture.stages.indices {
        capture.stages[index].why.detail = FailureDetail(.diskFull, file: "\(capture.id) \(index)")
      }
      return capture
    }
    let lines = RunSummary.closing(Self.report(captures), output: nil, areNamed: false)
      .lines
    let names = (0..<13).map { "c\($0)" }.joined(separator: ", ")
    #expect(lines.count { $0.hasPrefix("machine: ") } == 1)
    #expect(
      lines.contains {
        $0.hasPrefix("machine: ") && $0.hasSuffix("(the first of 13 captures with this failure)")
      })
    #expect(lines.contains("  captures \(names)"), "\(lines)")
  }

  @Test("Captures that workers of one run hold are named in one line")
  func locked() {
    let captures = ["a", "b"].enumerated().map { number, id in
      var capture = Texts.capture(id, .skipped, [])
      capture.why.message = "locked by scanmill run r7 (process \(100 + number) on vm)"
      return capture
    }
    let text = RunSummary.closing(Self.report(captures), output: nil, areNamed: true)
    #expect(text.hasPrefix("not processed, locked by scanmill run r7: a, b\n"), "\(text)")
    let one = RunSummary.closing(Self.report([captures[0]]), output: nil, areNamed: true)
    #expect(
      one.hasPrefix("not processed, locked by scanmill run r7 (process 100 on vm): a\n"), "\(one)")
  }

  @Test("One file that two stages cannot read is one block that names both")
  func equalFailures() {
    var capture = Texts.capture(
      "a", .failed,
      [
        Texts.stage("color", .failed, "a.mov: no video"),
        Texts.stage("thumbnail", .failed, "a.mov: no video"),
        Texts.stage("imu", .failed, "a.csv: no header"),
        Texts.stage("tables", .blocked, "its input 'thumbnail' failed"),
      ])
    capture.why.cause = .input
    let text = RunSummary.closing(Self.report([capture]), output: nil, areNamed: true)
    #expect(
      text.hasPrefix(
        """
        input: a.mov: no video
          stages color, thumbnail; blocked by it: tables
          capture a
        input: a.csv: no header
          stage imu
          capture a

        """), "\(text)")
  }

  @Test("What failed or warned is followed by where to read more; nothing else is")
  func whereToRead() {
    func lines(_ captures: [CaptureReport]) -> [Substring] {
      RunSummary.closing(Self.report(captures), output: "/out", areNamed: true)
        .lines.filter { $0.hasPrefix("read more: ") }
    }
    #expect(lines([Self.done("a"), Self.done("b", warnings: [Self.note])]).isEmpty)
    #expect(
      lines([Self.done("a", warnings: [Self.warning])]) == [
        "read more: warnings in /out/<capture>/capture.json; as a page: scanmill report /out"
      ])
    #expect(
      lines([Self.failed("a", "x"), Self.done("b", warnings: [Self.warning])]) == [
        "read more: warnings in /out/<capture>/capture.json, logs in /out/runs/r/logs; as a page: "
          + "scanmill report /out"
      ])
  }

  @Test("A capture with the name of another one says so in its line")
  func twin() {
    #expect(RunSummary.line(Self.done("room~2")) == "room~2 made 2/2 twin-of=room")
  }

  @Test("Blocked stages are listed with the stage that failed, not with another one")
  func roots() {
    let capture = Texts.capture(
      "a", .failed,
      [
        Texts.stage("color", .failed, "cut"), Texts.stage("depth", .failed, "torn"),
        Texts.stage("aligned", .blocked, "its input 'depth' failed"),
        Texts.stage("cloud", .blocked, "its input 'aligned' was blocked"),
        Texts.stage("preview", .blocked, "its input 'color' failed"),
      ])
    let text = RunSummary.closing(Self.report([capture]), output: nil, areNamed: true)
    #expect(text.contains("stage color; blocked by it: preview\n"), "\(text)")
    #expect(text.contains("stage depth; blocked by it: aligned, cloud\n"), "\(text)")
  }

  @Test("0/0 never stands without its reason")
  func nothing() {
    #expect(
      RunSummary.line(Texts.capture("a", .skipped, [], "locked by x\nand y"))
        == #"a skipped 0/0 note="locked by x""#)
    #expect(
      RunSummary.line(Texts.capture("a", .made, []))
        == #"a made 0/0 note="nothing that was asked for applies""#)
    #expect(
      RunSummary.line(Texts.capture("a", .failed, []))
        == #"a failed 0/0 note="no stage was started""#)
  }

  @Test("What was found and is not processed is named once; interrupted captures are no failures")
  func notProcessed() {
    let captures = [
      Texts.capture("a", .skipped, [], "locked by x"),
      Texts.capture("b", .skipped, [], "locked by x"),
      Texts.capture("c", .interrupted, [], "not started"),
    ]
    let found = [RunReport.Unrecognized(path: "/in/odd", holds: ["a", "b", "c", "d", "e"])]
    #expect(
      RunSummary.closing(
        Self.report(captures, wallSeconds: 61, unrecognized: found), output: nil, areNamed: true)
          == """
          not processed, locked by x: a, b
          not recognized: /in/odd (holds a, b, c, and 2 more)
          interrupted: what is complete is kept; the same command does the rest
          3 captures: 1 interrupted, 2 skipped · 1 needs you · 1 min 01 s
          """)
  }

  @Test("Totals as JSON sum up to the captures")
  func sums() {
    let totals = Self.report([
      Self.done("a"), Self.done("b", warnings: [Self.warning]), Self.done("c", missing: [".imu"]),
      Self.failed("d", "x"), Texts.capture("e", .blocked, []), Texts.capture("f", .skipped, []),
      Texts.capture("g", .interrupted, []),
    ]).totals
    #expect(totals.captures == 7 && totals.made == 3 && totals.needsPerson == 4)
    #expect(totals.failed == 1 && totals.blocked == 1)
    #expect(totals.skipped == 1 && totals.interrupted == 1)
    #expect(totals.frames == 310)
  }

  @Test("One missing picture of many is named; the only file of a stream is said by its content")
  func missingFiles() {
    let pictures = ["depth_00004.png", "conf_00005.png", "depth_00007.png", "rgbd/12.jpg"]
    #expect(
      OutcomeWords.lacks(pictures)
        == "no depth_00004.png and 1 more like it, no conf_00005.png, no rgbd/12.jpg")
    #expect(OutcomeWords.lacks(["a.h264", "b.mov"]) == "no video")
    #expect(OutcomeWords.lacks(["trans.json", "intri.json"]) == "no poses, no intrinsics")
    // Two families mean different things by files with this ending.
    #expect(OutcomeWords.lacks(["other.json"]) == "no other.json")
  }
}
