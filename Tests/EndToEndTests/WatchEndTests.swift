import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
