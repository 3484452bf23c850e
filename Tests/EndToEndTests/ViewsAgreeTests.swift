import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// One output, made in several ways, seen through every verb that tells of it.
@Suite("All views of an output say the same, whatever was asked for", .runsPrograms)
struct ViewsAgreeTests {
  /// What was asked for, one run after the other, and what every view then says.
  struct History: Sendable, CustomTestStringConvertible {
    let name: String
    /// Words of `run`, separated by blanks.
    let runs: [String]
    /// Stages that count; all others are not requested.
    let asked: Set<String>
    /// Captures that are ready, and all of which anything is told.
    var ready = (2, 2)
    /// `capture/stage state` of what is not as it should be.
    var lacking: [String] = []
    /// Whether the depth of `a` is damaged before the first run.
    var isDamaged = false

    var testDescription: String { name }
  }

  private static let base: Set = ["depth", "tables"]
  private static let pipeline = """
      imu: {uses: match-imu}
      depth-frames: {uses: decompress-depth, partOf: depth, keep: false}
      depth: {uses: export-images, with: {stream: depth}, needs: [depth-frames]}
      tables: {uses: export-tables, optional: [depth]}
      export-x: {uses: command, with: {command: [sh, -c, "echo > {output}/x"]}}
      export-y: {uses: command, with: {command: [sh, -c, "echo > {output}/y"]}}
    """

  static let histories = [
    History(
      name: "everything", runs: [""], asked: base.union(["imu", "export-x", "export-y"])),
    History(
      name: "a part, then an export", runs: ["--until tables", "--until x"],
      asked: base.union(["export-x"])),
    History(
      name: "an export, then a part", runs: ["--until x", "--until tables"],
      asked: base.union(["export-x"])),
    History(name: "until", runs: ["--until depth"], asked: ["depth"]),
    History(name: "only", runs: ["--only imu"], asked: ["imu"]),
    History(
      name: "another setting, then something else",
      runs: ["--until imu --set imu.window=20ms", "--only export-y"], asked: ["imu", "export-y"]),
    History(
      name: "a failure, and what it blocks", runs: ["--until depth --until imu"],
      asked: ["depth-frames", "depth", "imu"], ready: (1, 2),
      lacking: ["a/depth-frames failed", "a/depth blocked"], isDamaged: true),
    History(
      name: "a failure, then something else", runs: ["--until depth", "--only imu"],
      asked: ["depth-frames", "depth", "imu"], ready: (1, 2),
      lacking: ["a/depth-frames failed", "a/depth blocked"], isDamaged: true),
    History(name: "one capture", runs: ["--id a --only imu"], asked: ["imu"], ready: (1, 1)),
    History(
      name: "an export besides the pipeline", runs: ["--until depth", "--export x"],
      asked: base.union(["imu", "export-x", "export-y"])),
  ]

  private static func scene(_ history: History) throws -> (scene: Scene, pipeline: String) {
    let scene = try Scene("a", "b", frames: 2)
    let pipeline = try scene.pipeline(Self.pipeline)
    if history.isDamaged {
      try OutputFile.write(Array("not depth at all".utf8), to: scene.file("a.depth"))
    }
    for words in history.runs {
      let run = try Program.run(scene.arguments(["--pipeline", pipeline] + Self.split(words)))
      #expect(run.status == 0 || history.isDamaged, "\(run.errors)")
      // Nothing is told of what was not chosen.
      #expect(run.output.lines.count == history.ready.1, "\(run.output)")
      #expect(!run.errors.contains("not selected"), "\(run.errors)")
      #expect(!run.errors.contains("holds from"), "\(run.errors)")
    }
    return (scene, pipeline)
  }

  private static func split(_ words: String) -> [String] {
    words.split(separator: " ").map(String.init)
  }

  @Test(
    "Status, report, page and exit codes count the same",
    arguments: Rounds.every(2, of: histories))
  func views(_ history: History) throws {
    let (scene, _) = try Self.scene(history)
    let output = scene.output.string
    let status = try Program.run("status \(output) --json --exit-code")
    let json = try status.json()
    let captures = try json.objects("captures")
    var states: [String: String] = [:]
    var asked: Set<String> = []
    var lacking: [String] = []
    for capture in captures {
      let id = try #require(capture["id"] as? String)
      states[id] = try #require(capture["state"] as? String)
      for stage in try capture.objects("stages") {
        let (name, state) = (stage["stage"] as? String ?? "", stage["state"] as? String ?? "")
        if state == "not-requested" { continue }
        asked.insert(name)
        if !["done", "not-applicable"].contains(state) { lacking.append("\(id)/\(name) \(state)") }
      }
    }
    #expect(asked == history.asked)
    #expect(lacking == history.lacking)
    #expect(states.count == history.ready.1)
    #expect(states.values.count { $0.hasPrefix("done") } == history.ready.0, "\(states)")

    let text = try Program.run("status \(output) --all").output
    let columns = text.lines.filter { $0.hasPrefix("capture ") }
      .flatMap { Self.split(String($0)).dropFirst() }.filter { $0 != "state" }
    #expect(Set(columns) == history.asked, "\(text)")
    #expect(!text.contains("not-requested") && !text.contains("missing"), "\(text)")

    let code: Int32 = history.ready.0 == history.ready.1 ? 0 : 1
    #expect(status.status == code)
    let report = try Program.run("report \(output) --format json --exit-code")
    #expect(report.status == code)
    let night = try report.json()
    let listed = try night.objects("captures")
    #expect(
      Dictionary(
        uniqueKeysWithValues: listed.map {
          ($0["id"] as? String ?? "", $0["state"] as? String ?? "")
        }) == states)
    let totals = try night.object("totals")
    #expect(totals["captures"] as? Int == history.ready.1)
    #expect(json["totals", "captures"] as? Int == history.ready.1)
    for key in ["ready", "needsPerson", "queued", "marked", "frames", "bytes"] {
      #expect(
        totals[key] as? Int == (json["totals"] as? [String: Any])?[key] as? Int, "\(key)")
    }
    // The cause is that of the stage that failed.
    for capture in listed where !history.lacking.isEmpty && capture["state"] as? String == "failed"
    {
      let failures = try capture.objects("failures")
      #expect(failures.first?["stage"] as? String == "depth-frames")
      #expect(failures.first?["cause"] as? String == "input")
    }

    let written = try Program.run("report \(output)").output
    let page = try FilePath(written.trimmingCharacters(in: .newlines)).text()
    #expect(
      page.contains("\(history.ready.0) of \(history.ready.1) captures are ready."), "\(history)")
    for state in ["done", "failed", "queued"] {
      #expect(
        page.matches(of: try Regex("<tr data-id=\"[^\"]*\" data-state=\"\(state)\"")).count
          == states.values.count { $0 == state }, "\(state)")
    }
  }

  @Test("Warnings are counted in kinds and in occurrences, both alike in every view")
  func warnings() throws {
    let scene = try Scene(
      synthesizing: "scannet --frames 8 --width 64 --height 48 --fault swapped-times")
    let output = scene.output.string
    func counts(_ capture: [String: Any]) throws -> [Int] {
      let listed = try capture.objects("warnings")
        .filter { $0["severity"] as? String != "note" }
      return [listed.count, listed.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }]
    }
    func one(_ json: [String: Any]) throws -> [String: Any] {
      let captures = try json.objects("captures")
      try #require(captures.count == 1)
      return captures[0]
    }
    func document(_ path: FilePath) throws -> [String: Any] {
      let bytes = try #require(path.contents)
      return try bytes.json()
    }

    let run = try scene.run("--until tables").succeeds()
    let published = try counts(try document(scene.output.appending("a/capture.json")))
    // Something is told twice.
    #expect(published[0] > 1 && published[1] > published[0])
    #expect(
      run.output.hasSuffix("warnings=\(published[0]) occurrences=\(published[1])\n"),
      "\(run.output)")
    let phrase = "\(published[0]) kinds, \(published[1]) occurrences"
    // The text of a run of one capture shows each warning.
    let shown = run.errors.matches(of: /\n  warning: [^ ]+ ×([0-9]+)/)
    #expect(
      [shown.count, shown.reduce(0) { $0 + (Int($1.1) ?? 0) }] == published, "\(run.errors)")

    let name = try #require(try FileSystem.names(in: scene.output.appending("runs")).first)
    let record = scene.output.appending("runs").appending(name).appending("run.json")
    #expect(try counts(try one(try document(record))) == published)
    #expect(
      try counts(try Program.run("inspect \(scene.input.appending("a")) --json").json())
        == published)
    let status = try one(try Program.run("status \(output) --json").json())
    #expect(status["warningCount"] as? Int == published[0])
    let csv = try Program.run("status \(output) --csv").output.lines
      .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    let column = try #require(csv.first?.firstIndex(of: "warningCount"))
    #expect(csv.last?[column] == "\(published[0])")
    let report = try Program.run("report \(output) --format json").json()
    #expect(try counts(try one(report)) == published)

    let written = try Program.run("report \(output)").output
    let page = try FilePath(written.trimmingCharacters(in: .newlines)).text()
    #expect(page.contains(phrase))
    // A second run that does nothing says the same.
    let again = try scene.run("--until tables")
    #expect(again.output.hasSuffix("warnings=\(published[0]) occurrences=\(published[1])\n"))
  }

  @Test("An output that is whole has nothing to do for the watcher, and its metrics say so")
  func watch() throws {
    let (scene, pipeline) = try Self.scene(Self.histories[0])
    let metrics = scene.folder.path.appending("metrics.prom")
    let watch = try Program.run(
      """
      watch \(scene.input) -o \(scene.output) --once --settle 0s --pipeline \(pipeline) \
      --metrics \(metrics)
      """
    ).succeeds()
    #expect(watch.errors.contains("2 of 2 captures are ready. Nothing needs you."))
    let text = try metrics.text()
    #expect(text.contains("scanmill_captures{state=\"done\"} 2\n"), "\(text)")
    #expect(text.contains("scanmill_captures{state=\"queued\"} 0\n"), "\(text)")
  }

  @Test(
    "run -n and explain say what they compare with, and where that differs from what was asked for")
  func notions() throws {
    let (scene, pipeline) = try Self.scene(Self.histories[5])
    let output = scene.output.string
    // A parameter keeps the value that was named last.
    let kept = try scene.run("-n --pipeline \(pipeline) --only imu")
    #expect(kept.output.contains("2 captures: 2 up-to-date\n"), "\(kept.output)")
    let back = ["--pipeline", pipeline, "--only", "imu", "--set", "imu.window=default"]
    let plan = try Program.run(scene.arguments(["-n"] + back))
    #expect(plan.output.contains("2 captures: 2 run\nstages: 2 run, "), "\(plan.output)")
    #expect(
      plan.output.contains(
        """
        compared with what this command line asks for: pipeline \(pipeline), --only imu, imu.window=default
        imu.window 20ms → 50ms: replaces 4 frames in 2 captures

        """), "\(plan.output)")
    let json = try Program.run(scene.arguments(["-n", "--json"] + back)).json()
    #expect(json["comparedWith"] as? String == "command-line")
    let settings = try json.objects("settings")
    #expect(settings.first?["parameter"] as? String == "imu.window")
    #expect(settings.first?["was"] as? String == "20ms" && settings.first?["now"] == nil)
    #expect(settings.first?["captures"] as? Int == 2)

    let words = ["explain", "a", "imu", "-o", output, "--pipeline", pipeline]
    let unchanged = try Program.run(words).output
    #expect(unchanged.contains("is up to date: it would not run"), "\(unchanged)")
    #expect(
      unchanged.contains(
        "compared with what this command line asks for: pipeline \(pipeline), imu.window=20ms\n"))
    #expect(unchanged.contains("what was asked for is the same: "), "\(unchanged)")
    let why = try Program.run("\(words) --set imu.window=default").output
    #expect(why.contains("would run: parameters"), "\(why)")
    #expect(why.contains("differs from what was asked for: "), "\(why)")
    #expect(why.contains(": done\n"), "\(why)")
    let same = try Program.run("\(words) --set imu.window=20ms --json").json()
    #expect(same["action"] as? String == "up-to-date")
    #expect(same["comparedWith"] as? String == "command-line")
    #expect(same["askedFor", "differs"] as? Bool == false)
    #expect(same["askedFor", "state"] as? String == "done")
    // A stage that only what was asked for has.
    let own = try Program.run("explain a export-y -o \(output)").output
    #expect(own.contains("compared with what was asked for: pipeline "), "\(own)")
    let other = try Program.run("explain a export-x -o \(output)").output
    #expect(other.contains("was not asked for; a run that asks for it would make it"), "\(other)")

    // A run says it before it starts; the second one has nothing to say.
    let line = "imu.window 20ms → 50ms: replaces 4 frames in 2 captures\n"
    let run = try Program.run(scene.arguments(back))
    #expect(run.status == 0 && run.errors.hasPrefix(line), "\(run.errors)")
    let again = try scene.run("--pipeline \(pipeline) --only imu")
    #expect(!again.errors.contains("replaces"), "\(again.errors)")
    #expect(again.errors.contains("nothing to do"), "\(again.errors)")
  }

  @Test(
    "explain, status and run -n have the same stages for a pipeline that is added to what was asked for"
  )
  func added() throws {
    let scene = try Scene(synthesizing: "arkit-scanner --frames 4 --width 160 --height 120")
    try scene.run("-q --export nerfstudio").succeeds()
    let output = scene.output.string
    func wanted(_ stages: [[String: Any]], by key: String) -> Set<String> {
      let wanting = ["run", "blocked", "missing", "stale", "failed"]
      return Set(
        stages.filter { wanting.contains($0[key] as? String ?? "") }
          .compactMap { $0["stage"] as? String })
    }
    for setting in [[], ["--set", "imu.window=20ms"], ["--set", "color.count=2"]] {
      let words = ["--pipeline", "quality"] + setting
      let plan = try Program.run(scene.arguments(["-n", "--json"] + words)).json()
      let planned = try #require(try plan.objects("captures").first).objects("stages")
      let explained = try Program.run(["explain", "\(output)/a", "--json"] + words).json()
        .objects("stages")
      let status = try Program.run(["status", output, "--json"] + words).json()
      let rows = try #require(try status.objects("captures").first).objects("stages")
      #expect(
        Set(explained.compactMap { $0["stage"] as? String })
          == Set(planned.compactMap { $0["stage"] as? String }))
      let run = wanted(planned, by: "action")
      #expect(wanted(explained, by: "state") == run, "\(words)")
      #expect(wanted(rows, by: "state") == run, "\(words)")
      for stage in explained {
        #expect(stage["state"] as? String != "not-requested", "\(stage), \(words)")
      }
    }
  }

  @Test("explain names every request in force, and what was cleaned as such")
  func requests() throws {
    let scene = try Scene(synthesizing: "arkit-scanner --frames 4 --width 160 --height 120")
    let asked: [Words] = ["", "--pipeline quality", "--export nerfstudio --set imu.window=20ms"]
    for words in asked.map(\.list) {
      try scene.run("-q \(words)").succeeds()
    }
    try Program.run("clean \(scene.output) --stage color --yes").succeeds()
    let text = try Program.run("explain \(scene.output)/a").output
    for words in ["default.yaml", "quality.yaml", "--export export-nerfstudio", "imu.window=20ms"] {
      #expect(text.lines.last?.contains(words) == true, "\(text)")
    }
    let color = text.lines.first { $0.hasPrefix("  color ") }
    #expect(color?.contains("cleaned") == true, "\(text)")
    let stage = try Program.run("explain a imu -o \(scene.output) --json").json()
    let pipeline = stage["askedFor", "pipeline"] as? String
    #expect(pipeline?.contains("quality.yaml; default.yaml, ") == true, "\(stage)")
  }

  @Test(
    "What was cleaned stays so after a run that reaches it and has no use for it",
    arguments: [
      ("--pipeline time-offset" as Words, "time-offset", "--until imu" as Words, false),
      ("--pipeline time-offset", "time-offset", "", false),
      ("--pipeline time-offset", "time-offset", "--pipeline time-offset", true),
      ("", "depth", "--until nerfstudio", false), ("", "aligned", "--until nerfstudio", true),
      ("", "depth", "--until tables", true),
    ])
  func cleaned(first: Words, stage: String, then: Words, isMade: Bool) throws {
    let scene = try Scene(synthesizing: "arkit-scanner --frames 4 --width 160 --height 120")
    let artifact = scene.output.appending("a").appending(stage)
    try scene.run("-q \(first.list)").succeeds()
    try Program.run("clean \(scene.output) --stage \(stage) --yes").succeeds()
    try scene.run("-q \(then.list)").succeeds()
    #expect(FileSystem.isFolder(artifact) == isMade)
    let status = try Program.run("status \(scene.output) --json").json()
    let rows = try #require(try status.objects("captures").first).objects("stages")
    let state = rows.first { $0["stage"] as? String == stage }?["state"] as? String
    #expect(state == (isMade ? "done" : "not-requested"))
    try Program.run("watch \(scene.input) -o \(scene.output) --once --settle 1s -q").succeeds()
    #expect(FileSystem.isFolder(artifact) == isMade)
  }

  @Test("A setting of a stage that only an earlier run asked for is taken a second time")
  func earlierStage() throws {
    let scene = try Scene(synthesizing: "arkit-scanner --frames 4 --width 160 --height 120")
    try scene.run("-q").succeeds()
    let words: Words = "--pipeline preview --set depth.range=0.3m..4m"
    try scene.run("-q \(words.list)").succeeds()
    try scene.run("-n --exit-code \(words.list)").succeeds()
  }

  @Test("A filter that leaves every pixel as it is leaves the bytes of depth as they are")
  func idleFilter() throws {
    let scene = try Scene(synthesizing: "stray-scanner --frames 4 --width 160 --height 120")
    let depth = scene.output.appending("a").appending("depth")
    func files() throws -> [String: [UInt8]] {
      let names = try FileSystem.names(in: depth).filter { $0.hasSuffix(".png") }
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, Array(try depth.appending($0).data())) })
    }
    try scene.run("-q --until depth").succeeds()
    let plain = try files()
    #expect(plain.count == 4)
    for range in ["0mm..60m", "default"] {
      try scene.run("-q --until depth --set depth.range=\(range)").succeeds()
      #expect(try files() == plain, "\(range)")
    }
  }
}
