import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The top level of the project")
struct TopLevelTests {
  /// What a stranger sees first; everything else has its place below these.
  private static let belong: Set = [
    "Package.swift", "Sources", "Tests", "pipelines", "sample-data", "README.md", "LICENSE",
    "Makefile", "Containerfile", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs",
    "Benchmarks",
  ]
  /// What `.gitignore` names and a build, a test or `make demo` makes.
  private static let made: Set = ["Package.resolved", "out"]

  @Test("It holds what belongs there and nothing that a tool left")
  func names() throws {
    let names = Set(try FileSystem.names(in: Fixtures.projectRoot)).filter { !$0.hasPrefix(".") }
    #expect(names.subtracting(Self.made) == Self.belong)
  }

  @Test("No link points at nothing", arguments: ["Sources", "Tests", "Benchmarks/Sources"])
  func links(folder: String) throws {
    let root = Fixtures.projectRoot.appending(FilePath(folder).components).string
    let all = FileManager.default.enumerator(atPath: root)
    while let name = all?.nextObject() as? String {
      // Follows links.
      #expect(FileManager.default.fileExists(atPath: "\(root)/\(name)"), "\(folder)/\(name)")
    }
  }
}
