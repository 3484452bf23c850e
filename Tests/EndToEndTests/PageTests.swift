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
