import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@Suite("The README")
struct ReadmeTests {
  /// The commands of its `sh` blocks, in order.
  static let commands: [String] = {
    let file = Fixtures.projectRoot.appending("README.md")
    let text = (try? String(contentsOfFile: file.string, encoding: .utf8)) ?? ""
    var commands: [String] = []
    var isShell = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("```") {
        isShell = line == "```sh"
      } else if isShell {
        commands.append(String(line))
      }
    }
    return commands
  }()

  @Test("Every command in it works, one after the other")
  func everyCommand() throws {
    #expect(Self.commands.count >= 12)
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path.appending("sample-data").string,
      withDestinationPath: Fixtures.projectRoot.appending("sample-data").string)
    for command in Self.commands {
      var words = command.split(separator: " ").map(String.init)
      #expect(words.removeFirst() == "scanmill", "\(command)")
      let result = try Program.run(words, in: folder.path)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
  }
}
