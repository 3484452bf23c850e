import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("The report of a night, from outside", .runsPrograms)
struct ReportTests {
  private func report(_ scene: Scene, _ words: String...) throws -> [String: Any] {
    try Program.run("report \(scene.output) --format json \(words)").json()
  }

  /// Another file in its place: the one that was there may have other names.
  private static func breakFile(_ path: FilePath) throws {
    try FileSystem.remove(path)
    try OutputFile.write(Array("broken".utf8), to: path)
  }

  @Test("Runs, totals and captures of plain runs; a failed one with cause, log, remedy and command")
  func plain() throws {
    let scene = try Scene("a", "b's one", frames: 4)
    try Self.breakFile(scene.file("b's one.depth", of: "b's one"))
    #expect(try scene.run().status == 1)
    let report = try report(scene)
    let all = try report.captures()
    #expect((report["runs"] as? [String])?.count == 1 && all.count == 2)
    let id = "b-s-one"
    let failed = try #require(all[id])
    #expect(failed["state"] as? String == "failed" && failed["outcome"] as? String == "failed")
    let failure = try #require(failed.objects("failures").first)
    #expect(failure["cause"] as? String == "input" && failure["attempts"] as? Int == 1)
    if let log = failure["log"] as? String {
      #expect(FileSystem.exists(scene.output.appending(log)))
    }
    #expect(
      ((failed["reasons"] as? [[String: Any]])?.first?["remedy"] as? String)?
        .contains("Copy the .depth file again") == true)
    #expect(failed["page"] as? String == "\(id)/report.html")
    // The command that is shown can be pasted, and tries that capture again.
    let command = try #require(failed["command"] as? String)
    let pasted = command.replacingOccurrences(
      of: "scanmill run", with: "\(Program.path.string) run -n")
    let output = try PythonScript.run("/bin/bash", ["-c", pasted], nil, nil).output
    #expect(output.contains(id), "\(command)\n\(output)")
    let totals = try report.object("totals")
    #expect(totals["captures"] as? Int == 2 && totals["needsPerson"] as? Int == 1)
    #expect(totals["ready"] as? Int == 1)
    #expect((report["captures"] as? [[String: Any]])?.first?["id"] as? String == id)
  }

  @Test("Runs are chosen by id and by date; what is unknown is 64, no output 65")
  func selection() throws {
    let scene = try Scene("a", frames: 2)
    try scene.run("--only imu").succeeds()
    try scene.run().succeeds()
    let runs = try #require(try report(scene)["runs"] as? [String])
    #expect(runs.count == 2)
    #expect(try report(scene, "--run", runs[0])["runs"] as? [String] == [runs[0]])
    #expect(try (report(scene, "--since", "2099-01-01")["runs"] as? [String])?.isEmpty == true)
    let later = try Program.run("report \(scene.output) --since 2099-01-01 --json")
    #expect(
      later.errors.contains("no run was at work since 2099-01-01; the last is \(runs[1])"))
    for (words, code) in [
      (["--run", "nothing"], 64), (["--run", "2"], 64), (["--since", "soon"], 64),
      (["--format", "xml"], 64), (["--run", runs[0], "--since", "1h"], 64),
      (["--json", "--format", "csv"], 64), (["--json"], 0),
    ] as [([String], Int32)] {
      #expect(try Program.run("report \(scene.output) \(words)").status == code, "\(words)")
    }
    #expect(try Program.run("report /nowhere --format json").status == 65)
    try Program.run("report \(scene.output) --format json --exit-code").succeeds()
  }

  @Test(
    "A killed run is told: what it had done stays, the rest is queued and needs a person, nothing has failed"
  )
  func killed() throws {
    let scene = try Scene("a", frames: 40)
    let running = try scene.start()
    try scene.wait("color") { scene.hasStarted("color") }
    #expect(kill(running.process.processIdentifier, SIGKILL) == 0)
    _ = try running.finish()
    var state: String?
    // Its worker goes with it, a moment later.
    try scene.wait("the worker's end") {
      state = try report(scene).captures()["a"]?["state"] as? String
      return state != "running"
    }
    let capture = try #require(try report(scene).captures()["a"])
    #expect(state == "queued" && capture["outcome"] as? String == "interrupted")
    let totals = try report(scene).object("totals")
    #expect(totals["queued"] as? Int == 0 && totals["needsPerson"] as? Int == 1)
    #expect(totals["captures"] as? Int == 1)
    try scene.run().succeeds()
    #expect(try report(scene).captures()["a"]?["state"] as? String == "done")
  }

  @Test("--redact: no id, path, device, scene or person in any byte; aliases stay")
  func redact() throws {
    let scene = try Scene("annas-kitchen-6B0F1C5E", frames: 2)
    try Self.breakFile(
      scene.file("annas-kitchen-6B0F1C5E.depth", of: "annas-kitchen-6B0F1C5E"))
    #expect(try scene.run().status == 1)
    let object = try scene.output.appending("annas-kitchen-6B0F1C5E/capture.json").json()
    let device = object["device"] as? [String: Any] ?? [:]
    let place = object["scene"] as? [String: Any] ?? [:]
    var secrets = ["anna", "6b0f1c5e", scene.input.string.lowercased()]
    secrets += [device["id"], device["name"], place["label"], place["description"]]
      .compactMap { ($0 as? String)?.lowercased() }
    #expect(secrets.count > 4)
    for format in ["json", "csv"] {
      let words = ["report", scene.output.string, "--format", format, "--redact"]
      let first = try Program.run(words)
      #expect(first.status == 0 && first.output.contains("scannet-1"))
      for secret in secrets {
        #expect(!first.output.lowercased().contains(secret), "\(secret) in \(first.output)")
      }
      #expect(try Program.run(words).output.contains("scannet-1"))
    }
    #expect(FileSystem.exists(scene.output.appending(".scanmill/aliases.json")))
  }

  @Test("Names of any bytes and texts that control are carried, and shown harmless")
  func hostile() throws {
    let scene = try Scene("a", frames: 2)
    let odd = scene.input.appending("x\u{1B}[31m <b>\"'\n")
    try scene.input.appending("a").move(to: odd)
    try scene.run().succeeds()
    for words in [
      ["status"], ["status", "--json"], ["status", "--csv"], ["report", "--format", "json"],
      ["report", "--format", "csv"],
    ] {
      let result = try Program.run([words[0], scene.output.string] + words.dropFirst()).succeeds()
      #expect(!result.output.utf8.contains(0x1B))
      if words.contains("json") || words.contains("--json") { _ = try result.json() }
    }
  }
}

@Suite("Runs beside and after each other", .runsPrograms)
struct TogetherTests {
  @Test("A second run waits for the first, or with --no-wait names it and leaves with 75")
  func twoRuns() throws {
    let scene = try Scene("a")
    let go = scene.folder.path.appending("go")
    let pipeline = try scene.pipeline(
      """
        slow:
          uses: command
          with: {command: [sh, -c, "until test -e '\(go)'; do sleep 0.1; done; echo > {output}/x"]}
      """)
    let first = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the slow stage") { scene.hasStarted("slow") }
    let impatient = try scene.run("--pipeline \(pipeline) --no-wait")
    #expect(impatient.status == 75)
    #expect(impatient.output.hasPrefix("a skipped 0/0 note=\"locked by scanmill run "))
    #expect(impatient.errors.contains("locked by scanmill run "))
    let other = try scene.start("--pipeline \(pipeline)")
    try scene.wait("the second run to wait") {
      try other.errorsSoFar().contains("waiting: locked by scanmill run ")
    }
    try OutputFile.write([], to: go)
    let second = try other.finish().succeeds()
    try first.finish().succeeds()
    #expect(second.output == "a up-to-date 1/1\n")
    // What the first one built, the second did not build again.
    #expect(!second.errors.contains("never-built"))
  }

  @Test("The same bytes with 1 and 4 jobs, inline and in workers, in any order")
  func determinism() throws {
    let scene = try Scene("a", "b", "c")
    let reversed = ["c", "b", "a"].map { scene.input.appending($0).string }
    try scene.run("-j 1", to: "one").succeeds()
    try scene.run("-j 4", to: "four").succeeds()
    try scene.run("-j 4 --inline", to: "inline").succeeds()
    try scene.run("-j 1 --inline", to: "inline-one").succeeds()
    try Program.run(
      "run \(reversed) --output \(scene.folder.path.appending("shuffled")) -j 3"
    ).succeeds()
    let one = try scene.digests("one")
    #expect(one.count == 18)
    for other in ["four", "inline", "inline-one", "shuffled"] {
      #expect(try scene.digests(other) == one, "\(other)")
    }
  }
}

@Suite("Tables of damaged captures", .runsPrograms)
struct TableTests {
  private struct Outcome {
    var status: Int32
    /// Lines without header, by table.
    var rows: [String: Int]
    var stage: Any?
  }

  /// Synthesizes a capture, damages it and writes the tables of a stage, twice.
  private func run(
    _ family: [String], stage: String = "tables", damage: (FilePath) throws -> Void
  ) throws -> Outcome {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    let output = folder.path.appending("out")
    try Program.synthesize("\(family) --frames 8 --width 320 --height 240 --id a", to: input)
    try damage(input.appending("a"))
    var outcome = Outcome(status: 0, rows: [:])
    for _ in 0..<2 {
      let result = try Program.run(
        "run \(input.appending("a")) --output \(output) --until \(stage) --json")
      outcome.status = result.status
      let captures = try result.json()["captures"] as? [[String: Any]]
      let stages = captures?.first?["stages"] as? [[String: Any]]
      outcome.stage = stages?.first { $0["stage"] as? String == stage }?["outcome"]
    }
    let tables = output.appending("a").appending(stage)
    for name in try FileSystem.names(in: tables) where name.hasSuffix(".csv") {
      let text = try tables.appending(name).text()
      outcome.rows[String(name.dropLast(4))] = text.lines.count - 1
    }
    return outcome
  }

  private func cut(_ path: FilePath, to share: Double) throws {
    let url = URL(filePath: path.string)
    let data = try Data(contentsOf: url)
    try data.prefix(Int(Double(data.count) * share)).write(to: url)
  }

  @Test("A pose file that cannot be read empties its own table; the others are there; exit 1")
  func unreadablePoses() throws {
    let outcome = try run(["arkit-scanner"]) {
      try $0.appending("trans.json").write("{")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(outcome.rows == ["frames": 8, "poses": 0, "intrinsics": 8, "camera_settings": 8])
  }

  @Test("Of a pose file that breaks off the complete poses are there; exit 0")
  func cutPoses() throws {
    let outcome = try run(["arkit-scanner"]) {
      try cut($0.appending("trans.json"), to: 0.6)
    }
    #expect(outcome.status == 0)
    #expect(outcome.stage as? String == "up-to-date")
    #expect(outcome.rows["frames"] == 8 && outcome.rows["intrinsics"] == 8)
    #expect((1..<8).contains(outcome.rows["poses"] ?? 0))
  }

  @Test(
    "Geo data that cannot be read empty their table; where they are empty the capture's own position is held",
    arguments: [("{", 1, 0), ("", 0, 8)])
  func unreadableGeo(text: String, status: Int32, rows: Int) throws {
    let outcome = try run(["strabo"]) { folder in
      let names = try FileSystem.names(in: folder)
      let geo = try #require(names.first { $0.hasSuffix(".json") && $0 != "capture-info.json" })
      try folder.appending(geo).write(text)
    }
    #expect(outcome.status == status)
    #expect(outcome.rows == ["frames": 8, "geo": rows])
  }

  @Test("A frame table without its time column: no frame has a row, on any clock")
  func unreadableFrames() throws {
    let outcome = try run(["vi-slam"]) { folder in
      let path = folder.appending("frame_metadata.csv")
      try path.write("frame_number,iso\n1,2\n")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(outcome.rows["frames"] == 0)
  }

  @Test("A frame table without its time column takes no sample of the IMU away; exit 1")
  func samplesWithoutFrames() throws {
    let outcome = try run(["vi-slam"], stage: "imu") { folder in
      try folder.appending("frame_metadata.csv").write("frame_number,iso\n1,2\n")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(try #require(outcome.rows["imu"]) > 0)
    #expect(outcome.rows["frame_imu"] ?? 0 == 0)
  }
}
