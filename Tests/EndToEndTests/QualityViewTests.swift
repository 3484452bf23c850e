import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The verdict on a capture, wherever it is shown", .runsPrograms)
struct QualityViewTests {
  /// The first capture in the JSON of a verb.
  private static func first(_ words: [String]) throws -> [String: Any] {
    let captures = try Program.run(words).json()["captures"] as? [[String: Any]]
    return try #require(captures?.first)
  }

  /// The last three cells of the first capture in the CSV of a verb, behind their headers.
  private static func last(_ words: [String]) throws -> [String] {
    try Program.run(words).output.lines.prefix(2)
      .flatMap {
        $0.split(separator: ",", omittingEmptySubsequences: false).suffix(3).map(String.init)
      }
  }

  private static func equal(_ a: Any?, _ b: [String: Any]) -> Bool {
    (a as? NSDictionary) == (b as NSDictionary)
  }

  @Test(
    "Every view shows the verdict, reasons and numbers of the record",
    arguments: [("0.0001", "poor"), ("100", "good")])
  func views(limit: String, verdict: String) throws {
    let scene = try Scene("a")
    let limits = scene.output.removingLastComponent().appending("mine.yaml")
    let usual = try Program.run("list quality default").output
    try limits.write(
      usual.replacing("blurSigma: 2.6", with: "blurSigma: \(limit)")
        .replacing("blurPixels: 4", with: "blurPixels: 1000"))
    try scene.run("--pipeline quality --set quality.for=\(limits)").succeeds()
    let output = scene.output.string
    let recorded = try scene.output.appending("a/quality/artifact.json").json().object(
      "recorded")
    let reasons = try #require(recorded["reasons"] as? [String])
    #expect(recorded["verdict"] as? String == verdict)
    #expect(reasons.isEmpty == (verdict == "good"))
    let pictures = try #require(recorded["pictures"] as? [String: Int])
    #expect(pictures["judged"] == pictures["of"] && (pictures["of"] ?? 0) > 0)
    let counted = "\(pictures["judged"] ?? 0) of \(pictures["of"] ?? 0)"
    let keys = ["verdict", "pictures", "reasons", "judged"]
    let quality = recorded.filter { keys.contains($0.key) }

    #expect(Self.equal(try scene.output.appending("a/capture.json").json()["quality"], quality))
    #expect(Self.equal(try Self.first(["status", output, "--json"])["quality"], quality))
    let report = ["report", output, "--format", "json"]
    #expect(Self.equal(try Self.first(report)["quality"], quality))
    for words in [["status", output, "--csv"], ["report", output, "--format", "csv"]] {
      let number = "\(pictures["of"] ?? 0)"
      #expect(
        try Self.last(words) == [
          "quality", "picturesJudged", "picturesRecorded", verdict, number, number,
        ])
    }

    // The filter leaves the same captures in every form.
    for level in [verdict, "usable", "good,usable,poor"] {
      let isMeant = level.contains(verdict)
      let words = ["status", output, "--quality", level]
      let listed = try Program.run("\(words) --json").json()["captures"] as? [[String: Any]]
      #expect(listed?.count == (isMeant ? 1 : 0), "\(level)")
      let rows = try Program.run("\(words) --csv").output.lines.count
      #expect(rows == (isMeant ? 2 : 1), "\(level)")
      #expect(
        try Program.run("\(words) --all").output.contains("verdict") == isMeant, "\(level)")
      #expect(
        try Program.run("\(words) --state failed --json").json()["captures"] as? [Int] == [])
    }

    let status = try Program.run("status \(output) --all").unwrapped
    #expect(status.contains("verdict") && status.contains("\(verdict), \(counted)"))
    #expect(status.contains("poor quality: ") == (verdict == "poor"))
    #expect(reasons.allSatisfy(status.contains))

    try Program.run("report \(output)").succeeds()
    let night = try scene.output.appending("index.html").text()
    let page = try scene.output.appending("a/report.html").text()
    #expect(night.contains("data-quality=\"\(verdict)\">\(verdict), \(counted)</td>"))
    #expect(night.contains("id=\"poor\"") == (verdict == "poor"))
    #expect(page.contains("data-quality=\"\(verdict)\""))
    #expect(page.contains("Every frame") && page.contains("What was judged"))
    #expect(page.contains("\(counted) recorded pictures were judged"))
    #expect(reasons.allSatisfy { night.contains($0) && page.contains($0) })
    // A person who has looked: the verdict stays, the section goes.
    if verdict == "poor" {
      let totals = try Program.run(report).json()["totals"] as? [String: Any]
      #expect(totals?["poor"] as? Int == 1 && totals?["needsPerson"] as? Int == 0)
      try Program.run("mark done-as-is \(scene.output.appending("a"))").succeeds()
      try Program.run("report \(output)").succeeds()
      let marked = try scene.output.appending("index.html").text()
      #expect(
        !marked.contains("id=\"poor\"")
          && marked.contains("data-quality=\"poor\">poor, \(counted)</td>"))
    }
  }

  @Test("Without a verdict nothing of it is there; later runs without the stage leave it as it is")
  func absent() throws {
    let scene = try Scene("a")
    let output = scene.output.string
    func document() throws -> Data? {
      scene.output.appending("a/capture.json").contents
    }
    func check() throws {
      for words in [
        ["status", output], ["status", output, "--json"], ["status", output, "--csv"],
        ["report", output, "--format", "json"], ["report", output, "--format", "csv"],
      ] {
        let said = try Program.run(words).output
        #expect(!said.contains("verdict") && !said.contains("\"quality\":"), "\(words)")
        #expect(!said.contains(",quality"), "\(words)")
      }
      try Program.run("report \(output)").succeeds()
      for page in ["index.html", "a/report.html"] {
        let text = try scene.output.appending(page).text()
        #expect(!text.contains("data-quality") && !text.contains("judged"), "\(page)")
      }
    }
    try scene.run().succeeds()
    let plain = try document()
    try check()
    // A capture that was not judged has no verdict, whichever is asked for.
    let listed = try Program.run("status \(output) --quality good,usable,poor --json")
    #expect(try (listed.json()["captures"] as? [Any])?.isEmpty == true)
    try scene.run("--pipeline quality").succeeds()
    let judged = try document()
    #expect(judged != plain)
    // A published result stays asked for: it is told until `clean` removes it.
    try scene.run().succeeds()
    #expect(try document() == judged)
    let quality = try scene.output.appending("a/capture.json").json().object("quality")
    #expect(Self.equal(try Self.first(["status", output, "--json"])["quality"], quality))
    #expect(
      Self.equal(try Self.first(["report", output, "--format", "json"])["quality"], quality))
  }
}
