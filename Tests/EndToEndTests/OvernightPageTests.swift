import Foundation
@testable import Engine
import SystemPackage
import TestSupport
import Testing

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
