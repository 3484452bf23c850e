import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The picture of the modules", .runsPrograms)
struct ModulesPictureTests {
  private let root = Fixtures.projectRoot

  @Test(
    "docs/modules.svg is what docs/modules.py draws from Package.swift",
    .enabled(if: PythonScript.isPresent, "no python3"))
  func picture() throws {
    try PythonScript.run([root.appending("docs/modules.py").string, "--check"]).succeeds()
  }

  @Test("Every module has a row in ARCHITECTURE.md and a README")
  func described() throws {
    let text = try root.appending("ARCHITECTURE.md").text()
    let rows = text.lines.filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "|").first }
    let named = Set(
      rows.flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init) })
    let sources = root.appending("Sources")
    let modules = try FileSystem.names(in: sources).filter {
      FileSystem.isFolder(sources.appending($0))
    }
    #expect(modules.count > 12)
    for module in modules {
      #expect(named.contains(module), "\(module) has no row")
      let files = try FileSystem.names(in: sources.appending(module))
      #expect(files.contains("README.md") || files.contains("module.modulemap"), "\(module)")
    }
  }

  @Test("The three walks name types that exist, each fewer than fifteen")
  func walks() throws {
    let text = try root.appending("ARCHITECTURE.md").text()
    let section = try #require(text.components(separatedBy: "## Three walks").last)
      .components(separatedBy: "\n## ")[0]
    let walks = section.components(separatedBy: "\n**").dropFirst()
    #expect(walks.count == 3)
    let declared = SwiftSource.all.values.reduce(into: Set<String>()) { $0.formUnion($1.declared) }
    for walk in walks {
      let quoted = walk.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
      let types = Set(quoted.map(\.element).filter { $0.first?.isUppercase == true })
      #expect((5..<15).contains(types.count), "\(types.sorted())")
      #expect(types.subtracting(declared).isEmpty, "no such types")
    }
  }
}
