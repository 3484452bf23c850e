import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// `--family`, `--exclude`, `--since`, `--id` and `-o` through the built binary: the same words for every verb.
@Suite(.runsPrograms) struct SelectionTests {
  private let folder: TemporaryFolder
  private var place: String { folder.path.appending("in").string }
  private var output: String { folder.path.appending("out").string }

  init() throws {
    folder = try TemporaryFolder()
    for (id, family) in [("kitchen-1", "strabo"), ("kitchen-2", "scannet"), ("office", "scannet")] {
      try Program.synthesize(
        "\(family) --frames 2 --width 160 --height 120 --id \(id)", to: place)
    }
  }

  /// What is asked for, and which captures are left.
  private static let table: [(words: [String], left: [String])] = [
    (["--family", "strabo"], ["kitchen-1"]),
    (["--family", "strabo,scannet"], ["kitchen-1", "kitchen-2", "office"]),
    (["--family", "strabo", "--family", "scannet"], ["kitchen-1", "kitchen-2", "office"]),
    (["--exclude", "kitchen*"], ["office"]),
    (["--exclude", "*/kitchen-1", "--exclude", "office"], ["kitchen-2"]),
    (["--id", "kitchen"], ["kitchen-1", "kitchen-2"]),
    (["--id", "kitchen-2,off"], ["kitchen-2", "office"]),
    (["--id", "off…", "--id", "kitchen-1"], ["kitchen-1", "office"]),
    (["--id", "*-2,off"], ["kitchen-2", "office"]),
    (["--id", "kitchen", "--family", "scannet"], ["kitchen-2"]),
    (["--id", "kitchen", "--exclude", "*-2"], ["kitchen-1"]),
    (["--since", "1h"], ["kitchen-1", "kitchen-2", "office"]),
    (["--since", "7d", "--id", "office"], ["office"]),
    (["--since", "2020-01-31T08:30", "--id", "office"], ["office"]),
  ]

  @Test(
    "A folder of true values that a pattern of the shell names is passed over, and that is said")
  func truth() throws {
    let all = try FileSystem.names(in: folder.path.appending("in")).map { "\(place)/\($0)" }
    #expect(all.contains { $0.hasSuffix(".truth") })
    let run = try Program.run(["run"] + all + ["-o", output, "--only", "imu"]).succeeds()
    #expect(run.errors.contains("note: 3 folders of true values passed over"), "\(run.errors)")
    let alone = try Program.run(["run"] + all.filter { $0.hasSuffix(".truth") } + ["-o", output])
    #expect(alone.status == 65)
  }

  @Test(
    "A pattern of --exclude that leaves nothing out is told, as is a selection that leaves no capture"
  )
  func idle() throws {
    let plan = ["run", place, "-o", output, "-n", "--only", "imu"]
    let idle = try Program.run(plan + ["--exclude", "kitchen-1,office"]).succeeds()
    #expect(
      idle.errors.hasPrefix(
        "note: --exclude 'kitchen-1,office' matches no capture here; name each pattern with"),
      "\(idle.errors)")
    let none = try Program.run(plan + ["--exclude", "kitchen*", "--exclude", "office"]).succeeds()
    #expect(none.errors == "note: of 3 captures found none is selected\n", "\(none.errors)")
  }

  /// What no verb takes.
  private static let wrong: [(words: [String], status: Int32, tells: String)] = [
    (["--family", "scanet"], 64, "did you mean 'scannet'?"),
    (["--family", "scannet,"], 64, "no family ''"),
    (["--since", "soon"], 64, "--since is a date such as"),
    (["--since", "2026-02-30"], 64, "--since is a date such as"),
    (["--id", ""], 64, "--id is the beginning of an id"),
    (["--id", "kitchen-1,"], 64, "--id is the beginning of an id"),
    (["--exclude", ""], 64, "--exclude is a pattern"),
    (["--id", "kitchn-1"], 65, "no capture here has an id that begins with it or matches it"),
    (["--id", "*kitchn*"], 65, "no capture here has an id that begins with it or matches it"),
  ]

  private func run(_ words: [String]) throws -> Program.Result {
    try Program.run("run \(place) -o \(output) --only tables --pipeline \(pipeline) \(words)")
  }

  private var pipeline: String { folder.path.appending("p.yaml").string }

  private func makePipeline() throws {
    try OutputFile.write(
      Array("schema: 1\nstages:\n  tables: {uses: export-tables}\n".utf8),
      to: FilePath(pipeline))
  }

  private func status(_ words: [String]) throws -> [String] {
    let captures = try Program.run("status \(output) --json \(words)").json().objects("captures")
    return captures.compactMap { $0["id"] as? String }
  }

  @Test func `run, status and bench leave the same captures for the same words`() throws {
    try makePipeline()
    try #require(try run([]).status == 0)
    for (words, left) in Self.table {
      let done = try run(words)
      #expect(done.status == 0, "\(words): \(done.errors)")
      let ids = done.output.lines.compactMap { line -> String? in
        let parts = line.split(separator: " ")
        return parts.count > 1 && parts[1] == "up-to-date" ? String(parts[0]) : nil
      }
      #expect(ids.sorted() == left, "run \(words)")
      #expect(try status(words) == left, "status \(words)")
    }
    #expect(try status(["--since", "2099-01-01"]).isEmpty)
    let none = try run(["--since", "2099-01-01"])
    #expect(none.status == 0 && !none.output.contains("up-to-date"), "\(none.output)")
    let bench = ["bench", place, "--pipeline", pipeline, "--repeat", "1", "--warmup", "0", "-q"]
    for (words, left) in [Self.table[7], Self.table[9]] {
      let report = try Program.run("\(bench) --json \(words)").json()
      let captures = try report.objects("captures")
      #expect(captures.compactMap { $0["id"] as? String }.sorted() == left, "bench \(words)")
    }
    #expect(try Program.run("\(bench) --since 2099-01-01").status == 65)
  }

  @Test func `run, status and bench refuse the same words alike`() throws {
    try makePipeline()
    try #require(try run([]).status == 0)
    for verb in [
      ["run", place, "-o", output, "-n"], ["status", output],
      ["bench", place, "--repeat", "1", "-q"],
    ] {
      for (words, status, tells) in Self.wrong {
        let result = try Program.run(verb + words)
        #expect(result.status == status, "\(verb[0]) \(words): \(result.errors)")
        #expect(result.errors.contains(tells), "\(verb[0]) \(words): \(result.errors)")
        #expect(result.output.isEmpty, "\(verb[0]) \(words)")
      }
    }
    // Dates of other verbs are the same.
    for (text, code) in [("soon", 64), ("2026-02-30", 64), ("24h", 0), ("2020-01-31", 0)] {
      let report = try Program.run("report \(output) --format json --since \(text)")
      #expect(report.status == Int32(code), "\(text): \(report.errors)")
    }
    // One of two beginnings is mistyped: the other one counts, and it is told.
    let half = try run(["--id", "office,kitchn"])
    #expect(half.status == 0 && half.output.contains("office up-to-date"), "\(half.output)")
    #expect(half.errors.contains("note: --id kitchn: no capture here"), "\(half.errors)")
  }

  @Test
  func `bench takes the beginning of an id in place of a path, and names captures by their ids`()
    throws
  {
    try makePipeline()
    func bench(_ path: String) throws -> Program.Result {
      try Program.run("bench \(path) --pipeline \(pipeline) --repeat 1 --warmup 0 -q --json")
    }
    for text in ["\(place)/off", "\(place)/office", "\(place)/off…"] {
      let result = try bench(text)
      let captures = try result.json().objects("captures")
      #expect(captures.map { $0["id"] as? String } == ["office"], "\(text)")
      #expect(!"\(captures)".contains(place), "\(text)")
    }
    let several = try bench("\(place)/kitchen")
    #expect(
      several.status == 64 && several.errors.contains("is the beginning of 2 ids"),
      "\(several.errors)")
    #expect(try bench("\(place)/nothing").status == 65)
    let none = try Program.run("bench --id office")
    #expect(none.status == 64 && none.errors.contains("among the captures named"))
  }

  @Test func `-o is --output for every verb that has it`() throws {
    try makePipeline()
    let sheet = folder.path.appending("sheet.png").string
    for option in ["-o", "--output"] {
      let made = folder.path.appending("made" + option).string
      let out = folder.path.appending("to" + option).string
      for (words, written) in [
        (["synthesize", "vi-slam", "--frames", "2", "--truth-pictures", "0", option, made], made),
        (["run", "\(place)/office", "--pipeline", pipeline, option, out], out),
        (["watch", place, "--once", "--settle", "0s", "--pipeline", pipeline, option, out], out),
        (["explain", "office", "tables", "--pipeline", pipeline, option, out], out),
        (["view", "\(place)/office", "--frames", "1", option, sheet], sheet),
      ] {
        let result = try Program.run(words)
        #expect(result.status == 0, "\(words): \(result.errors)")
        #expect(FileSystem.exists(FilePath(written)), "\(words)")
      }
    }
  }
}
