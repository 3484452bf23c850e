import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// The pages of results that the program made, opened in a browser.
@Suite("Pages of a night, as the program writes them", .runsPrograms, .serialized)
struct PageTests {
  private static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  /// Made once for all tests: results of a capture of every family, and of one whose video is no video.
  private static let made = Result { try make() }
  private let folder: TemporaryFolder
  private var output: FilePath { folder.path.appending("out") }

  init() throws { folder = try Self.made.get() }

  private static func make() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    func synthesize(_ family: String, _ id: String) throws {
      try Program.synthesize("\(family) --frames 4 --width 320 --height 240 --id \(id)", to: input)
    }
    for family in families { try synthesize(family, "night-\(family)") }
    try synthesize("scannet", "broken")
    try input.appending("broken/broken.h264").write(Data(repeating: 0x55, count: 5_000))
    let run = try Program.run("run \(input) --output \(folder.path.appending("out"))")
    try #require(run.status == 1, "\(run.errors)")
    return folder
  }

  private func report(_ words: String...) throws -> Program.Result {
    try Program.run("report \(output) \(words)")
  }

  @Test("HTML says what JSON says, and every row leads to a page that is there")
  func sameAsJSON() throws {
    let html = try report().succeeds()
    #expect(html.output == output.appending("index.html").string + "\n")
    let page = try output.appending("index.html").text()
    let json = try report("--format", "json").json()
    let captures = try json.objects("captures")
    #expect(captures.count == Self.families.count + 1)
    let rows = page.matches(of: /<tr data-id="([^"]*)" data-state="([^"]*)"[^>]*>/)
    #expect(rows.map { String($0.1) } == captures.compactMap { $0["id"] as? String })
    #expect(rows.map { String($0.2) } == captures.compactMap { $0["state"] as? String })
    let totals = try json.object("totals")
    let states = try #require(totals["states"] as? [String: Int])
    for (state, count) in states {
      #expect(rows.count { String($0.2) == state } == count, "\(state)")
    }
    for (key, value) in totals where key != "states" {
      let inJSON = try #require((value as? NSNumber)?.doubleValue, "\(key)")
      let text =
        page.firstMatch(of: try Regex("data-total=\"\(key)\">([^<]*)<"))?.output[1].substring
      guard let text else {
        // The page leaves out what is 0, but not what everybody looks for.
        #expect(inJSON == 0 && !["captures", "ready", "needsPerson"].contains(key), "\(key)")
        continue
      }
      // Sums of seconds differ in the last digit with the order in which captures ended.
      let onPage = try #require(Double(text), "\(key)")
      #expect(abs(onPage - inJSON) < 1e-6, "\(key)")
    }
    #expect(page.contains("5 of 6 captures are ready. 1 needs you."))
    for capture in captures {
      let path = try #require(capture["page"] as? String)
      #expect(FileSystem.exists(output.appending(path)), "\(path)")
    }
    // Nothing is made again that is up to date.
    let first = output.appending("night-scannet/report.html")
    let before = FileStamp(of: first)
    try report().succeeds()
    #expect(FileStamp(of: first) == before)
  }

  @Test("A file of somebody else in the place of the page stays, and the report says so")
  func foreign() throws {
    let file = output.appending("index.html")
    try? FileSystem.remove(file)
    try file.write("mine")
    defer { try? FileSystem.remove(file) }
    let result = try report()
    #expect(result.status == 73 && result.errors.contains("index.html"), "\(result.errors)")
    #expect(try file.text() == "mine")
  }

  @Test(
    "In Chromium: no message, request or overflow; pictures, names, contrast, targets, order",
    .enabled(if: Browser.isPresent, "\(Browser.absence)"))
  func browser() throws {
    try report().succeeds()
    try report("--redact").succeeds()
    var pages = ["index.html", "redacted/index.html"]
    pages += try FileSystem.names(in: output)
      .map { "\($0)/report.html" }.filter { FileSystem.exists(output.appending($0)) }
    #expect(pages.count >= Self.families.count + 2)
    let result = try Browser.check(pages.map { output.appending($0).string })
    #expect(result.status == 0, "\(result.output)")
  }
}
