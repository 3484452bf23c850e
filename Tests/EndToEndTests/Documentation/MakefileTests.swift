import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The Makefile")
struct MakefileTests {
  private static func text(_ name: String) throws -> String {
    try Fixtures.projectRoot.appending(name).text()
  }

  @Test("`make help` names every command")
  func help() throws {
    let text = try Self.text("Makefile")
    let line = try #require(text.lines.first { $0.hasPrefix(".PHONY:") })
    let silent: Set = ["help", "setup", "setup-test", "uninstall", "lint"]
    for name in line.split(separator: " ").dropFirst().map(String.init) where !silent.contains(name)
    {
      #expect(text.contains("@echo \"make \(name) "), "\(name)")
    }
  }
}
