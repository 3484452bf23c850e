import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("The JSON that the program writes, and the schemas that tell people of it", .runsPrograms)
struct SchemaTests {
  static let absence = ReaderScript.absence(of: "jsonschema", for: "no document is validated")

  static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  @Test(
    "Every family: inspection, plan, run, artifacts, exports, status and report",
    .enabled(if: absence.isEmpty, "needs jsonschema"))
  func everyFamily() throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    for family in Self.families {
      let isScanNet = family == "scannet"
      let size = isScanNet ? ["324", "242"] : ["160", "120"]
      try Program.synthesize(
        """
        \(family) --frames 6 --seed 3 --width \(size[0]) --height \(size[1]) --id \(family) \
        \(isScanNet ? Scene.smallDepth : [])
        """, to: input)
    }
    var documents = try WrittenDocuments()
    let output = folder.path.appending("out")
    let run = ["run", input, "--output", output.string]
    try documents.add("dry-run", printed: Program.run("\(run) -n --json"))
    for pipeline in ["default", "exports", "preview", "point-cloud"] {
      try documents.add(
        "run-summary", printed: Program.run("\(run) --pipeline \(pipeline) --json"))
    }
    try documents.add("dry-run", printed: Program.run("\(run) -n --json"))
    // Keys that only parameters bring about.
    try documents.add(
      "run-summary",
      printed: Program.run(
        """
        \(run) --export tum,colmap --set export-tum.segment=all --set export-colmap.segment=1 \
        --set export-colmap.pairs=1 --json
        """))
    let known =
      try Program.run("list families --json").json()["families"] as? [[String: Any]]
    for family in Self.families {
      let capture = FilePath(input).appending(family).string
      let inspection = try Program.run("inspect \(capture) --json")
      try documents.add("capture", printed: inspection)
      let generations = known?.first { $0["name"] as? String == family }?["generations"]
      let generation = try #require(try inspection.json()["generation"] as? String)
      #expect((generations as? [String])?.contains(generation) == true, "\(family) \(generation)")
    }
    let view = output.string
    try documents.add("status", printed: Program.run("status \(view) --json"))
    try documents.add("report", printed: Program.run("report \(view) --format json"))
    try documents.add(
      "report", printed: Program.run("report \(view) --format json --redact"))
    // What the verbs that ask print.
    let capture = FilePath(input).appending("scannet").string
    let picture = folder.path.appending("look.png").string
    try documents.add("view", printed: Program.run("view \(capture) -o \(picture) --json"))
    try documents.add("params", printed: Program.run("list parameters exports --json"))
    try documents.add(
      "params", printed: Program.run("list parameters imu,depth --json"))
    try documents.add("families", printed: Program.run("list families --json"))
    try documents.add("stages", printed: Program.run("list stages --json"))
    try documents.add("explain-code", printed: Program.run("explain frame-gap --json"))
    for more in [[], ["--set", "imu.window=20ms"], ["--pipeline", "exports"]] {
      try documents.add(
        "explain-capture", printed: Program.run("explain \(capture) -o \(view) --json \(more)"))
      try documents.add(
        "explain", printed: Program.run("explain \(capture) imu -o \(view) --json \(more)"))
    }
    let bench = [
      "bench", capture, "--pipeline",
      Fixtures.projectRoot.appending("Benchmarks/color.yaml").string, "--repeat", "1", "--warmup",
      "0", "-q",
      "--json",
    ]
    let report = folder.path.appending("bench.json")
    let measured = try Program.run(bench)
    try documents.add("bench", printed: measured)
    try documents.add("bench", printed: Program.run("\(bench) --floor --compare ffmpeg"))
    try OutputFile.write(Array(measured.output.utf8), to: report)
    try documents.add(
      "bench-comparison",
      printed: Program.run("bench --compare-reports \(report) \(report) --json"))
    for words in [["done-as-is", "--note", "x"], ["undo"], ["undo"]] {
      let all = ["mark", words[0], output.appending("scannet").string, "--json"]
      try documents.add("mark", printed: Program.run(all + words.dropFirst()))
      try documents.add("mark", printed: Program.run("mark list \(view) --json"))
    }
    try documents.add(output: output)
    #expect(documents.counts["export", default: 0] > 20)
    #expect(documents.counts["artifact", default: 0] > 50 && documents.counts["run"] == 5)
    try documents.check()
  }

  @Test("Where there is no capture, the list is empty and the reason is told")
  func noCapture() throws {
    let folder = try TemporaryFolder()
    let nowhere = folder.path.appending("nowhere").string
    let empty = folder.path.appending("empty").string
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    let output = ["--output", folder.path.appending("out").string]
    var documents = try WrittenDocuments()
    let verbs: [(schema: String, words: [String], more: [String])] = [
      ("run-summary", ["run"], ["--json"] + output),
      ("dry-run", ["run"], ["-n", "--json"] + output),
      ("status", ["status"], ["--json"]), ("report", ["report"], ["--format", "json"]),
      ("explain-capture", ["explain"], ["--json"] + output), ("", ["inspect"], ["--json"]),
    ]
    for (verb, place) in verbs.flatMap({ verb in [nowhere, empty].map { (verb, $0) } }) {
      let words = verb.words + [place] + verb.more
      let result = try Program.run(words)
      #expect(result.status == 65, "\(words): \(result.errors)")
      let document = try result.json()
      let list = document[words[0] == "explain" ? "stages" : "captures"] as? [Any]
      #expect(list?.isEmpty == true, "\(words): \(result.output)")
      let reason = try #require(document["error"] as? String)
      #expect(!reason.isEmpty && result.errors.contains(reason), "\(words): \(reason)")
      if !verb.schema.isEmpty { try documents.add(verb.schema, printed: result) }
    }
    if Self.absence.isEmpty { try documents.check() }
  }

  @Test(
    "Every fixture, the damaged ones included",
    .enabled(if: absence.isEmpty && Fixtures.arePresent, "needs jsonschema and the fixtures"))
  func everyFixture() throws {
    let output = try TemporaryFolder()
    let run = ["run"] + Rounds.every(4, of: FixtureTests.all).map(\.input.string)
    let words = run + ["--output", output.path.string, "--json"]
    var documents = try WrittenDocuments()
    try documents.add("run-summary", printed: Program.run(words))
    try documents.add("dry-run", printed: Program.run("\(words) -n"))
    let view = output.path.string
    try documents.add("status", printed: Program.run("status \(view) --json"))
    try documents.add("report", printed: Program.run("report \(view) --format json"))
    try documents.add(
      "report", printed: Program.run("report \(view) --format json --redact"))
    try documents.add(output: output.path)
    #expect(documents.counts["capture", default: 0] > 10)
    try documents.check()
  }

  @Test(
    "While a run goes on, and what failed, was tried again, blocked and skipped",
    .enabled(if: absence.isEmpty, "needs jsonschema"))
  func failures() throws {
    let scene = try Scene("a", "b", "c", frames: 2)
    let pipeline = try scene.pipeline(
      """
        looks:
          uses: command
          with:
            command: [sh, -c, "cp \(scene.output)/runs/*/run.json {output} && \(Program.path) status \(scene.output) --json > {output}/status.json"]
        again:
          uses: command
          needs: [looks]
          retries: 1
          with: {command: [sh, -c, "exit 75"]}
        after:
          uses: command
          needs: [again]
          with: {command: [sh, -c, "true > {output}/x"]}
      """)
    let more = ["--pipeline", pipeline, "--fail-fast", "-j", "1", "--json"]
    var documents = try WrittenDocuments()
    let result = try scene.run("\(more)")
    #expect(result.status == 1, "\(result.errors)")
    for word in ["failed", "blocked", "skipped"] {
      #expect(result.output.contains(#""outcome" : "\#(word)""#), "\(word)")
    }
    try documents.add("run-summary", printed: result)
    let looks = scene.output.appending("a/looks")
    documents.add("run", looks.appending("run.json"))
    documents.add("status", looks.appending("status.json"))
    let going = try looks.appending("run.json").json()
    #expect(going["finished"] is NSNull && going["exit"] is NSNull)
    // A folder of somebody else in the way of the third capture.
    try FileSystem.makeFolder(scene.output.appending("d"))
    try scene.output.appending("d/mine.txt").write("x")
    try FileSystem.rename(scene.input.appending("c"), to: scene.input.appending("d"))
    let ids = ["txt", "depth", "h264", "imu", "camera"]
    for ending in ids {
      try FileSystem.rename(
        scene.file("c.\(ending)", of: "d"), to: scene.file("d.\(ending)", of: "d"))
    }
    let plan = try Program.run(scene.arguments(["-n", "--json"]))
    #expect(plan.output.contains(#""error""#), "\(plan.output)")
    try documents.add("dry-run", printed: plan)
    let view = scene.output.string
    try documents.add("status", printed: Program.run("status \(view) --json"))
    try documents.add("report", printed: Program.run("report \(view) --format json"))
    try documents.add(output: scene.output)
    try documents.check()
  }

  @Test(
    "A table that cannot be made, a doubtful calibration, and one with a lens",
    .enabled(if: absence.isEmpty, "needs jsonschema"))
  func calibration() throws {
    let scene = try Scene("a", frames: 2)
    let strabo = scene.input.appending("s")
    try Program.synthesize("strabo --frames 3 --id s", to: scene.input)
    for name in try FileSystem.names(in: strabo)
    where name.hasSuffix(".json") && name != "capture-info.json" {
      try strabo.appending(name).write("no JSON")
    }
    // The `alignment` of a capture is a calibration file.
    let inspection = try Program.run("inspect \(scene.input.appending("a")) --json")
    var alignment = try inspection.json().object("alignment")
    var matrix = try #require(alignment["colorFromDepth"] as? [Double])
    matrix[3] = 3
    alignment["colorFromDepth"] = matrix
    alignment["distortion"] = ["color": ["k1": 0.01], "depth": [:]]
    let file = scene.folder.path.appending("lab.json")
    try file.write(json: alignment)
    var documents = try WrittenDocuments()
    try documents.add(
      "capture",
      printed: Program.run("inspect \(scene.input.appending("a")) --json --calibration \(file)"))
    let result = try scene.run("--json --set aligned.calibration=\(file.string)")
    #expect(result.status == 1 && result.output.contains("calibration-suspect"), "\(result.errors)")
    try documents.add("run-summary", printed: result)
    try documents.add(output: scene.output)
    try documents.check()
    let tables = try scene.output.appending("s/tables/artifact.json").text()
    #expect(tables.contains(#""problems""#))
  }

  @Test(
    "The watcher and what it does not recognize", .enabled(if: absence.isEmpty, "needs jsonschema"))
  func watcher() throws {
    let scene = try Scene("a", frames: 2)
    try FileSystem.makeFolder(scene.input.appending("holiday"))
    try scene.input.appending("holiday/beach.bin").write("x")
    let view = scene.output.string
    try Program.run("watch \(scene.input) --output \(view) --once --settle 1s").succeeds()
    var documents = try WrittenDocuments()
    try documents.add(
      "status", printed: Program.run("status \(view) --json --staging \(scene.input)"))
    try documents.add("report", printed: Program.run("report \(view) --format json"))
    try documents.add(output: scene.output)
    try documents.check()
  }

  @Test(
    "A run on a cluster has keys of its own, also in the report",
    .enabled(if: absence.isEmpty && PythonScript.isPresent, "needs jsonschema"))
  func cluster() throws {
    let slurm = try FakeSlurm()
    let cluster = try ClusterScene(["a", "b"], slurm.environment)
    let result = try cluster.run("--json").succeeds()
    var documents = try WrittenDocuments()
    try documents.add("run-summary", printed: result)
    let view = cluster.path("out")
    try documents.add("status", printed: Program.run("status \(view) --json"))
    let report = try Program.run("report \(view) --format json")
    let captures = try report.json().objects("captures")
    #expect(captures.allSatisfy { $0["cluster", "job"] is String })
    try documents.add("report", printed: report)
    let redacted = try Program.run("report \(view) --format json --redact")
    #expect(!redacted.output.contains(#""cluster""#))
    try documents.add("report", printed: redacted)
    try documents.add(output: cluster.scene.output)
    try documents.check()
  }
}

/// JSON documents that the program has written, each with the name of the schema that it must obey.
struct WrittenDocuments {
  private let place: TemporaryFolder
  private var lines: [String] = []
  /// How many there are of each schema.
  private(set) var counts: [String: Int] = [:]

  init() throws { place = try TemporaryFolder() }

  mutating func add(_ schema: String, _ file: FilePath) {
    lines.append("\(schema)\t\(file.string)")
    counts[schema, default: 0] += 1
  }

  /// What was printed.
  mutating func add(_ schema: String, printed result: Program.Result) throws {
    let file = place.path.appending("\(lines.count).json")
    try file.write(result.output)
    add(schema, file)
  }

  /// Everything for people and scripts in an output folder; notes of the program's own are left out.
  mutating func add(output: FilePath) throws {
    let schemas = [
      "capture.json": "capture", "artifact.json": "artifact", "run.json": "run",
      "events.jsonl": "event", "export.json": "export",
    ]
    for name in (try? output.namesBelow()) ?? [] {
      guard let last = name.split(separator: "/").last, let schema = schemas[String(last)],
        !name.split(separator: "/").contains(where: { $0.hasPrefix(".") })
      else { continue }
      add(schema, output.appending(name))
    }
  }

  /// Each obeys its schema, and whatever the schemas forbid is noticed when it is done to them.
  func check() throws {
    let list = place.path.appending("list")
    try list.write(lines.joined(separator: "\n") + "\n")
    let schemas = Fixtures.projectRoot.appending("docs/schemas").string
    let result = try ReaderScript.run("schemas.py", [schemas, list.string])
    print(result.output)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }
}
