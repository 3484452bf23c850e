import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Pages

@Suite(
  "The page of the night in a browser", .runsPrograms,
  .enabled(if: Browser.isPresent, "\(Browser.absence)"))
struct NightBrowserTests {
  @Test(
    "Phone and desktop, light and dark, print, names, contrast, targets, sorting, hostile names")
  func pages() throws {
    let folder = try TemporaryFolder()
    var files: [String] = []
    for (name, report) in [
      ("night", NightSamples.ordinary()), ("well", NightSamples.allWell(2)),
      ("empty", NightSamples.empty()), ("hostile", NightSamples.hostile()),
      ("large", NightSamples.large()),
    ] {
      let file = folder.path.appending("\(name).html").string
      let page = try NightPage(report: report, supplies: NightSamples.supplies(report)).document()
      try Data(page).write(to: URL(filePath: file))
      files.append(file)
      Browser.keep(page, as: "\(name).html")
    }
    let result = try Browser.check(files)
    #expect(result.status == 0, "\(result.output)")
  }
}
