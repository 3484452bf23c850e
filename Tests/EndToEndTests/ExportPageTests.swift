import Foundation
@testable import Core
@testable import Engine
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("The page about exports", .runsPrograms)
struct ExportPageTests {
  private static let page: String = {
    let file = Fixtures.projectRoot.appending("docs/exports.md")
    return (try? file.text()) ?? ""
  }()

  /// The content of blocks of code in a language, in order.
  private static func blocks(_ language: String) -> [String] {
    page.components(separatedBy: "\n```").enumerated().compactMap { index, block in
      guard index % 2 == 1, block.hasPrefix(language + "\n") else { return nil }
      return String(block.dropFirst(language.count + 1)) + "\n"
    }
  }

  @Test("Every command in it works, one after the other")
  func commands() throws {
    let commands = Self.blocks("sh").joined().lines.map(String.init)
    #expect(commands.count >= 5)
    let folder = try TemporaryFolder()
    try Program.synthesizeSamples(in: folder.path)
    for command in commands {
      var words = command.split(separator: " ").map(String.init)
      #expect(words.removeFirst() == "scanmill", "\(command)")
      let result = try Program.run(words, in: folder.path)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
  }

  @Test("Its tables name every format, and no other")
  func formats() throws {
    let names: [String] = try Program.run("list stages").output.lines
      .compactMap { line in line.split(separator: " ").first.map(String.init) }
    let stages: [String] = names.filter { name in
      name.hasPrefix("export-") && !["export-images", "export-tables"].contains(name)
    }.map { String($0.dropFirst(7)) }
    #expect(Set(stages) == Set(ExportFormats.kinds.map { String($0.name.dropFirst(7)) }))
    let rows = Self.page.lines.filter { $0.hasPrefix("| ") }
    let tools = Self.section("Which format for which tool")
    let families = Self.section("What each family can give")
    for format in stages {
      #expect(tools.contains("`\(format)`"), "\(format)")
      #expect(families.contains("`\(format)`"), "\(format)")
    }
    #expect(rows.count > 25)
  }

  @Test("Every format is in the tables that no build compares")
  func places() throws {
    func text(_ name: String) throws -> String {
      try Fixtures.projectRoot.appending(FilePath(name).components).text()
    }
    let benchmark = try text("Benchmarks/exports.py")
    let pipeline = try text("pipelines/exports.yaml")
    for kind in ExportFormats.kinds {
      let format = kind.name.dropFirst(7)
      #expect(benchmark.contains(try Regex("\\b\(format)\\b")), "\(format)")
      #expect(pipeline.contains(kind.name), "\(format)")
      let reader = Fixtures.projectRoot.appending("Tests/Readers/read_\(format).py")
      #expect(FileSystem.exists(reader), "\(reader)")
    }
    let guide = try text("docs/adding-a-format.md")
    for match in guide.matches(of: #/\| `([\w/]+\.\w+)` \|/#) {
      let place = Fixtures.projectRoot.appending(FilePath(String(match.1)).components)
      #expect(FileSystem.exists(place) || match.1.contains("NAME"), "\(match.1)")
    }
  }

  private static func section(_ title: String) -> String {
    let parts = page.components(separatedBy: "\n## ")
    return parts.first { $0.hasPrefix(title) } ?? ""
  }
}
