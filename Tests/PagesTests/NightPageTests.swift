import FoundationEssentials
import Night
import Storage
import TestSupport
import Testing

@testable import Pages

@Suite("The page of the night")
struct NightPageTests {
  private func page(_ report: NightReport, _ supplies: PageSupplies = PageSupplies()) -> String {
    String(decoding: NightPage(report, supplies).document(), as: UTF8.self)
  }

  @Test(
    "pages to look at", .enabled(if: ProcessInfo.processInfo.environment["SCANMILL_PAGES"] != nil))
  func show() throws {
    let folder = try #require(ProcessInfo.processInfo.environment["SCANMILL_PAGES"])
    for (name, report) in [
      ("night", NightSamples.ordinary()), ("well", NightSamples.allWell()),
      ("large", NightSamples.large()), ("hostile", NightSamples.hostile()),
      ("empty", NightSamples.empty()),
    ] {
      let bytes = try NightPage(report, NightSamples.supplies(report)).document()
      print(name, bytes.count)
      try Data(bytes).write(to: URL(filePath: "\(folder)/\(name).html"))
    }
  }
}
