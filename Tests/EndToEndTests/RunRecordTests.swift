import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("run.json and what a run says", .runsPrograms)
struct RunRecordTests {
  private static let secret = "hunter2-\(UInt64.random(in: 0 ... .max))"

  private func runFolder(_ output: FilePath) throws -> FilePath {
    let runs = output.appending("runs")
    return runs.appending(try #require(try FileSystem.names(in: runs).last))
  }

  @Test("run.json is there from the start, without an end; every end that can be heard writes it")
  func startAndEnd() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        color: {uses: decode-color}
        slow:
          uses: command
          needs: [color]
          with: {command: [sh, -c, "trap '' TERM; sleep 300"]}
      """)
    let running = try scene.start("--pipeline \(pipeline) --grace 10m")
    try scene.wait("the program") { scene.hasStarted("slow") }
    let folder = try runFolder(scene.output)
    let before = try folder.appending("run.json").json()
    #expect(before["finished"] is NSNull && before["exit"] is NSNull)
    #expect(before["started"] is String && before["schema"] as? Int == 1)
    // The third ends the process at once.
    for _ in 0..<3 {
      kill(running.process.processIdentifier, SIGINT)
      // Two that come together count as one.
      Waiting.untilTaken(SIGINT, by: running.process.processIdentifier)
    }
    #expect(try running.finish().status == 130)
    let after = try folder.appending("run.json").json()
    #expect(after["finished"] is String && after["exit"] as? Int == 130)
  }

  @Test("run.json tells who ran what, where and with which build, beside the object of run --json")
  func record() throws {
    let scene = try Scene("a")
    let result = try scene.run("--json --only color")
    let printed = try result.json()
    let folder = try runFolder(scene.output)
    let record = try folder.appending("run.json").json()
    for (key, value) in printed {
      #expect((record[key] as? NSObject) == (value as? NSObject), "\(key)")
    }
    let more = Set(record.keys).subtracting(printed.keys)
    #expect(
      more == [
        "program", "host", "user", "commandLine", "workingDirectory", "pipeline", "started",
        "finished", "seconds",
      ])
    let program = try record.object("program")
    #expect(program["version"] as? String == "0.1.0" && program.keys.contains("commit"))
    let libraries = try #require(program["libraries"] as? [String: String])
    #expect(
      Set(libraries.keys).isSuperset(of: ["libavcodec", "libavformat", "libswscale", "libpng"]))
    let host = try record.object("host")
    #expect(Set(host.keys) == ["name", "os", "cpu", "cores", "memoryBytes"])
    #expect((record["commandLine"] as? [String])?.last == "color")
    let pipeline = try record.object("pipeline")
    #expect(pipeline["name"] as? String == "default" && pipeline["path"] is NSNull)
    let copy = try Digest(ofFileAt: folder.appending("pipeline.yaml"))
    #expect(pipeline["sha256"] as? String == copy.hex)

    let totals = try printed.object("totals")
    #expect(totals["captures"] as? Int == 1 && totals["made"] as? Int == 1)
    let artifact = try scene.output.appending("a/color/artifact.json").json()
    #expect(artifact["program", "libraries"] as? [String: String] == libraries)
    let counted = try #require(artifact["libraries"] as? [String: String])
    #expect(Set(counted.keys) == ["libavcodec", "libavformat", "libswscale"])
  }

  @Test("Libraries count for stages that decode video and for no others")
  func libraries() throws {
    let scene = try Scene("a")
    try scene.run().succeeds()
    let counted = try FileSystem.names(in: scene.output.appending("a")).filter { stage in
      let file = scene.output.appending("a").appending(stage).appending("artifact.json")
      return FileSystem.exists(file) ? try file.json()["libraries"] != nil : false
    }
    #expect(counted == ["color"])
    // As another FFmpeg would have made it.
    let path = scene.output.appending("a/color/artifact.json")
    var record = try path.json()
    var libraries = try #require(record["libraries"] as? [String: String])
    libraries["libavcodec"] = "1.2.3"
    record["libraries"] = libraries
    try path.write(json: record)
    let plan = try scene.run("-n -v")
    #expect(plan.output.contains("color: run, stage-version (libavcodec: 1.2.3 -> "))
    #expect(plan.output.contains("depth: up-to-date"))
    let why = try Program.run("explain a color --output \(scene.output)")
    #expect(why.output.contains("* libavcodec") && why.output.contains("1.2.3 -> "))
  }

  @Test("No value of an environment lies anywhere in the output, however it was given")
  func secrets() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        # \("a comment")
        hello:
          uses: command
          with:
            command: [sh, -c, "test -n \\"$TOKEN\\" && echo > {output}/x"]
            environment:
              - "TOKEN=\(Self.secret)"
              - OTHER=
      """)
    try scene.run("--pipeline \(pipeline)").succeeds()
    let set = ["--set", "hello.environment=TOKEN=\(Self.secret)2"]
    let plan = try Program.run(scene.arguments(["--pipeline", pipeline, "-n"] + set))
    #expect(plan.output.contains("a: hello (environment [TOKEN=sha256:"))
    try Program.run(scene.arguments(["--pipeline", pipeline] + set)).succeeds()
    // What is noted is enough to compare with.
    try Program.run("status \(scene.output) --exit-code").succeeds()
    let why = try Program.run("explain a hello --output \(scene.output)")
    for text in [plan.output, why.output] { #expect(!text.contains(Self.secret)) }
    var files = 0
    for name in try scene.output.namesBelow() {
      guard let data = scene.output.pushing(FilePath(name)).contents else { continue }
      files += 1
      #expect(data.range(of: Data(Self.secret.utf8)) == nil, "\(name)")
    }
    #expect(files > 5)
    let folder = try runFolder(scene.output)
    let copy = String(
      decoding: try #require(
        folder.appending("pipeline.yaml").contents),
      as: UTF8.self)
    #expect(copy.contains("TOKEN=(left out)") && copy.contains("command"))
  }

  @Test("Quiet says nothing unless something failed, and then why")
  func quiet() throws {
    let scene = try Scene("a")
    let good = try scene.run("-q")
    #expect(good.status == 0 && good.errors.isEmpty)
    let pipeline = try scene.pipeline(
      """
        wrong:
          uses: command
          with: {command: [sh, -c, "echo no luck >&2; exit 3"]}
      """)
    let bad = try scene.run("-q --pipeline \(pipeline)")
    #expect(bad.status == 1)
    #expect(bad.errors.contains("sh exited with code 3") && bad.errors.contains("stage wrong"))
    #expect(bad.errors.contains("/logs/a/wrong.log"))
    #expect(bad.errors.contains("1 capture: 1 failed"))
  }

  @Test("A capture that lacks files is done and needs a person, and says what is missing")
  func incomplete() throws {
    let scene = try Scene("a", "b")
    let video = try #require(
      try FileSystem.names(in: scene.input.appending("a")).first { $0.hasSuffix(".h264") })
    try FileSystem.remove(scene.file(video))
    let result = try scene.run().succeeds()
    #expect(result.output.hasPrefix("a made 5/5 warnings="))
    #expect(result.output.contains(" missing=.h264\n"))
    #expect(result.errors.contains("a done, no video"))
    #expect(result.errors.contains("1 capture needs you:\n  a: missing: .h264\n"))
    let again = try scene.run("--json").json()
    let captures = try again.objects("captures")
    #expect(captures.map { $0["missing"] as? [String] } == [[".h264"], []])
    let document = try scene.output.appending("a/capture.json").json()
    #expect(document["missing"] as? [String] == [".h264"])
  }
}

@Suite("A run.json that is damaged, from outside", .runsPrograms)
struct DamagedRunFileTests {
  @Test("status, report and explain say so once, name the file, and answer all the same")
  func told() throws {
    let scene = try Scene("a", frames: 3)
    try scene.run().succeeds()
    let root = scene.output
    let before = try Program.run("status \(root) --json")
    #expect(!before.errors.contains("damaged"))
    let runs = root.appending("runs")
    for run in try HeldFolder.following(runs).list() {
      try OutputFile.write(
        Array(#"{"started":"#.utf8), to: runs.appending(run.name).appending("run.json"))
    }
    for words in [
      ["status", root.string, "--json"], ["report", root.string, "--format", "json"],
      ["explain", "a", "depth", "--output", root.string],
    ] {
      let result = try Program.run(words)
      #expect(result.status == 0, "\(words): \(result.errors)")
      let lines = result.errors.lines.filter { $0.contains("damaged") }
      #expect(lines.count == 1, "\(words): \(result.errors)")
      #expect(lines.first?.hasPrefix("note: ") == true)
      #expect(lines.first?.contains("/run.json is damaged: ") == true)
      #expect(lines.first?.contains("restore the file") == true)
    }
  }
}

@Suite("Settings that an earlier version took", .runsPrograms)
struct RecordedSettingTests {
  @Test("Results of a run with a length without unit can still be looked at; the reason is told")
  func looked() throws {
    let scene = try Scene("a", frames: 2)
    try scene.run("--set depth.range=1m..9m").succeeds()
    let memo = scene.output.appending("a/.scanmill/memo.json").string
    let text = try FilePath(memo).text()
    try #require(text.contains("1m..9m"))
    try Data(text.replacing("1m..9m", with: "1..9").utf8).write(to: URL(filePath: memo))
    try Program.run("status \(scene.output)").succeeds()
    let explained = try Program.run("explain a depth --output \(scene.output)").succeeds()
    #expect(
      explained.output.contains("'1..9' is not two lengths with their units"),
      "\(explained.output)")
    let again = try scene.run("--set depth.range=1m..9m --json")
    #expect(
      again.status == 0 && again.output.contains("\"upToDate\" : 1"), "\(again.output)")
  }

  @Test("A setting of an export that an earlier run asked for holds in runs that name nothing")
  func ofExport() throws {
    let scene = try Scene("a", frames: 2)
    try scene.run("--export ply").succeeds()
    try scene.run("--set export-ply.pixels=3").succeeds()
    let again = try scene.run("")
    #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
    let back = try scene.run("--set export-ply.pixels=default")
    #expect(back.status == 0 && back.errors.contains("3 → 1: replaces"), "\(back.errors)")
  }
}
