import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The Makefile")
struct MakefileTests {
  private static let tests = Fixtures.projectRoot.appending("Tests")

  private static func text(_ name: String) throws -> String {
    try Fixtures.projectRoot.appending(name).text()
  }

  /// Folders of test targets.
  private static func targets() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: tests.string)
      .filter { $0.hasSuffix("Tests") }.sorted()
  }

  @Test("`make check` leaves out the target that runs the built program, and no other")
  func check() throws {
    let line = try #require(
      try Self.text("Makefile").split(separator: "\n").first {
        $0.hasPrefix("TARGET_WITH_PROGRAMS :=")
      })
    let leftOut = line.split(separator: " ").dropFirst(2).map(String.init)
    let running = try Self.targets().filter { target in
      let folder = Self.tests.appending(target)
      let names = try #require(FileManager.default.enumerator(atPath: folder.string))
      return try names.compactMap { $0 as? String }.contains { name in
        try name.hasSuffix(".swift")
          && folder.pushing(FilePath(name)).text()
            .contains("enum Program {")
      }
    }
    #expect(leftOut == running)
    // The filter is one of names of modules.
    let package = try Self.text("Package.swift")
    for target in leftOut {
      #expect(
        package.contains("\"\(target)\"") || package.contains("tests(\"\(target.dropLast(5))\""))
    }
  }

  @Test("`make help` names every command")
  func help() throws {
    let text = try Self.text("Makefile")
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(".PHONY:") })
    let silent: Set = ["help", "setup", "setup-test", "uninstall", "lint"]
    for name in line.split(separator: " ").dropFirst().map(String.init) where !silent.contains(name)
    {
      #expect(text.contains("@echo \"make \(name) "), "\(name)")
    }
  }
}
