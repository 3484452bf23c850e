import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine

@Suite("The page about running for months, and the program", .runsPrograms)
struct OvernightPageTests {
  private static let page: String = {
    let file = Fixtures.projectRoot.appending("docs/overnight.md")
    return (try? file.text()) ?? ""
  }()

  @Test("The defaults that it tells are those of the program")
  func defaults() throws {
    let text = try Program.run("watch --help-hidden").output
    // Behind the usage, which names them as well.
    let help = text[try #require(text.range(of: "ARGUMENTS:")).upperBound...]
    for (option, value) in [
      ("settle", "60s"), ("poll", "30s"), ("patience", "6h"), ("attempts", "3"),
      ("retry-after", "15m"),
    ] {
      #expect(Self.page.contains("| `--\(option)` | \(value) |"))
      let own = try #require(help.range(of: "--\(option) "))
      let rest = help[own.lowerBound...]
      let end = rest.dropFirst(2).range(of: "\n  -")?.lowerBound ?? rest.endIndex
      #expect(rest[..<end].contains("(default: \(value))"), "\(rest[..<end])")
    }
  }
}

/// Every way out of a watcher leaves the last page, the state and the notification behind.
@Suite("A watcher that ends says how things stand", .runsPrograms)
struct WatchEndTests {
  struct Way: Sendable, CustomTestStringConvertible {
    var name: String
    var words: [String]
    /// `nil`: it ends by itself.
    var signal: Int32?
    /// Whether a capture is at work when the signal comes.
    var isAtWork = false
    var status: Int32
    var testDescription: String { name }
  }

  static let ways = [
    Way(name: "SIGTERM, nothing to do", words: [], signal: SIGTERM, status: 143),
    Way(name: "SIGINT, nothing to do", words: [], signal: SIGINT, status: 130),
    Way(
      name: "SIGTERM, a capture at work that is given no time", words: ["--grace", "0s"],
      signal: SIGTERM, isAtWork: true, status: 143),
    Way(
      name: "SIGTERM, a capture at work that ends in time", words: ["--grace", "60s"],
      signal: SIGTERM, isAtWork: true, status: 143),
    Way(name: "--once, everything processed", words: ["--once"], status: 0),
    Way(
      name: "--once that a time limit ends", words: ["--once", "--grace", "0s"], signal: SIGTERM,
      isAtWork: true, status: 143),
  ]

  @Test("Page, watch.json and notification are written first", arguments: ways)
  func end(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let (begun, told) = (folder.path.appending("begun").string, folder.path.appending("told"))
    let go = folder.path.appending("go")
    let wait = way.isAtWork ? "until test -e '\(go)'; do sleep 0.1; done" : "true"
    let scene = try WatchScene(
      """
        slow:
          uses: command
          with: {command: [sh, -c, "echo x >> '\(begun)'; \(wait); echo x > {output}/x"]}
      """)
    try scene.put("a")
    let notify = "cat > '\(told)'.json; echo \"$SCANMILL_PAGE\" > '\(told)'.page"
    // A page that would be older than the end.
    let watcher = try Program.start(
      scene.words(["--notify", notify, "--page-every", "1h"] + way.words))
    if let signal = way.signal {
      try scene.wait("the capture") {
        way.isAtWork
          ? FileSystem.exists(FilePath(begun)) : scene.isDone("a", "slow") && scene.waiting.isEmpty
      }
      watcher.signal(signal)
      Waiting.untilTaken(signal, by: watcher.process.processIdentifier)
      // Without a grace it is ended in the middle.
      if !way.words.contains("0s") { try OutputFile.write([], to: go) }
    }
    let result = try watcher.finish()
    #expect(result.status == way.status, "\(result.errors)")

    let ended = try #require(scene.record["ended"] as? String)
    let data = try FilePath(told.string + ".json").data()
    let report = try data.json()
    let watch = try report.object("watch")
    #expect(watch["ended"] as? String == ended)
    let totals = try report.object("totals")
    #expect(totals["captures"] as? Int == 1 && totals["running"] as? Int == 0)
    let page = scene.output.appending("index.html").string
    #expect(try FilePath(told.string + ".page").text() == page + "\n")
    let html = try FilePath(page).text()
    #expect(html.contains("The watcher ended at "))
    #expect(!html.contains("data-interval=\""))
    let done = scene.isDone("a", "slow")
    #expect(html.contains("\(done ? 1 : 0) of 1 captures are ready"), "\(done)")
    #expect(totals["ready"] as? Int == (done ? 1 : 0))
  }

  @Test("A page that is renewed says how often; nights are kept, and only our pages removed")
  func renewed() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let nights = scene.output.appending("nights")
    try FileSystem.makeFolder(nights)
    let page = "<!DOCTYPE html><meta name=\"generator\" content=\"scanmill pages 1\">"
    for (name, text) in [
      ("2026-01-01.html", page), ("2026-01-02.html", page), ("2026-01-03.html", "mine"),
      ("notes.html", "mine"),
    ] {
      try OutputFile.write(Array(text.utf8), to: nights.appending(name))
    }
    let watcher = try scene.start("--page-every 1s --keep-nights 2")
    let index = scene.output.appending("index.html").string
    try scene.wait("the page") {
      let text = (try? FilePath(index).text()) ?? ""
      return text.contains("data-interval=\"3\"") && text.contains("1 of 1 captures are ready")
    }
    // Nothing changes any more, and it is written all the same.
    let before = try FileManager.default.attributesOfItem(atPath: index)[.modificationDate] as? Date
    try scene.wait("the next page") {
      try FileManager.default.attributesOfItem(atPath: index)[.modificationDate] as? Date != before
    }
    #expect(try watcher.stop().status == 143)
    let names = Set(try FileSystem.names(in: nights))
    #expect(names.count == 3)
    #expect(names.isSuperset(of: ["2026-01-03.html", "notes.html"]))
    #expect(!names.contains("2026-01-01.html"))
    let kept = try #require(names.first { $0 > "2026-01-03.html" && $0.hasPrefix("2") })
    let text = try nights.appending(kept).text()
    #expect(text.contains("href=\"./../index.html\""))
    #expect(text.contains("href=\"./../a/report.html\""))
    #expect(!text.contains("data-interval=\""))
  }
}

@Suite("Keeping runs for months", .runsPrograms)
struct KeepRunsTests {
  private let folder: TemporaryFolder
  private var output: String { folder.path.appending("out").string }

  init() throws { folder = try TemporaryFolder() }

  private func synthesize(_ id: String) throws -> String {
    try Program.synthesize(
      "scannet --frames 2 --width 324 --height 242 --id \(id)", to: folder.path.appending("in"))
    return folder.path.appending("in").appending(id).string
  }

  private var runs: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: output + "/runs").sorted()
    }
  }

  private func hasEvents(_ run: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(output)/runs/\(run)/events.jsonl")
  }

  @Test("Old runs lose events and logs, and every other verb says what it said before")
  func all() throws {
    let good = try synthesize("good")
    let bad = try synthesize("bad")
    let depth = bad + "/bad.depth"
    try #require(FileManager.default.fileExists(atPath: depth))
    try FilePath(depth).write("nonsense")
    try Program.run("run \(good) --output \(output)").succeeds()
    #expect(try Program.run("run \(bad) --output \(output)").status == 1)
    let ids = try runs
    #expect(ids.count == 2)
    let questions = [
      ["status", output], ["status", output, "--json"],
      ["explain", "good", "color", "--output", output],
      ["explain", "bad", "depth", "--output", output], ["run", good, "-n", "--output", output],
    ]
    // When a capture was last worked on is told by its run then, to the end of that.
    func answers() throws -> [String] {
      try questions.map { question in
        try Program.run(question).output.lines
          .map { $0.contains("\"lastRun\" : \"") ? "lastRun" : $0 }.joined(separator: "\n")
      }
    }
    let before = try answers()
    #expect(before[1].contains("lastRun"))

    // Lists by default.
    let listed = try Program.run("clean \(output) --keep-runs 0s").succeeds()
    #expect(listed.output.contains("runs/\(ids[0])") && !listed.output.contains(ids[1]))
    #expect(listed.output.contains("would be removed; add --yes"))
    #expect(ids.allSatisfy(hasEvents))
    let removed = try Program.run("clean \(output) --keep-runs 0s --yes")
    #expect(removed.status == 0 && removed.output.contains("removed "))
    #expect(try runs == ids)
    #expect(!hasEvents(ids[0]) && hasEvents(ids[1]))
    #expect(FileManager.default.fileExists(atPath: "\(output)/runs/\(ids[0])/run.json"))
    #expect(try answers() == before)
    #expect(
      try Program.run("clean \(output) --keep-runs 0s --yes").output
        == "nothing to remove\n")
    #expect(
      try Program.run("clean \(output) --keep-runs 90d").output == "nothing to remove\n")
  }

  @Test(
    "Wrong words have their exit codes",
    arguments: [
      (["--keep-runs", "90"], 64), (["--keep-runs", "2026-01-01"], 64),
      (["--keep-runs", "-1d"], 64), (["--keep-runs", "90d", "--failed"], 64),
      (["--keep-runs", "90d"], 65),
    ] as [([String], Int32)])
  func exitCodes(words: [String], status: Int32) throws {
    let result = try Program.run("clean \(folder.path) \(words)")
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty && !result.errors.isEmpty)
  }
}
