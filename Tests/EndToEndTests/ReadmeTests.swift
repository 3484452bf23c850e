import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Pages whose commands work one after the other in a folder that holds `sample-data/`.
@Suite("The README, and pages with commands like it", .runsPrograms)
struct ReadmeTests {
  /// The commands of the `sh` blocks of a page, in order.
  static func commands(of page: String) throws -> [String] {
    let file = Fixtures.projectRoot.pushing(FilePath(page))
    var commands: [String] = []
    var isShell = false
    for line in try file.text().lines {
      if line.hasPrefix("```") {
        isShell = line == "```sh"
      } else if isShell {
        commands.append(String(line))
      }
    }
    return commands
  }

  @Test(
    "Every command works, one after the other",
    arguments: [
      ("README.md", 12), ("docs/tasks.md", 25), ("docs/looking.md", 1), ("docs/pictures.md", 2),
      ("docs/quality.md", 3),
    ])
  func everyCommand(page: String, atLeast: Int) throws {
    let commands = try Self.commands(of: page)
    #expect(commands.count >= atLeast)
    let folder = try TemporaryFolder()
    try Program.synthesizeSamples(in: folder.path)
    for command in commands {
      #expect(command.hasPrefix("scanmill "), "\(command)")
      let result = try Program.run(line: command, in: folder.path)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
  }

  @Test("A newcomer reads less than 150 lines")
  func length() throws {
    let readme = try Fixtures.projectRoot.appending("README.md").text()
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
  }
}
