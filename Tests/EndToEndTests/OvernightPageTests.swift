import Foundation
@testable import Engine
import SystemPackage
import TestSupport
import Testing

@Suite("The page about running for months, and the program", .runsPrograms)
struct OvernightPageTests {
  private static let page: String = {
    let file = Fixtures.projectRoot.appending("docs/overnight.md")
    return (try? String(contentsOfFile: file.string, encoding: .utf8)) ?? ""
  }()

  /// Words of every call of the program in its blocks of code, from the verb on: of units, cron lines, the
  /// container and the shell.
  private static let calls: [[String]] = {
    var calls: [[String]] = []
    for (index, block) in page.components(separatedBy: "\n```").enumerated() where index % 2 == 1 {
      let lines = block.replacing("\\\n", with: " ").split(separator: "\n")
      for line in lines where !line.hasPrefix("#") {
        for part in line.split(separator: "|") {
          let words = part.split(separator: " ").map(String.init)
          guard
            let start = words.firstIndex(where: {
              $0 == "scanmill" || $0.hasSuffix("/scanmill") || $0 == "scanmill:latest"
            }), words.count > start + 1,
            ["watch", "run", "status", "report", "clean", "explain"].contains(words[start + 1])
          else { continue }
          calls.append(Array(words[(start + 1)...]))
        }
      }
    }
    return calls
  }()

  @Test("Every option of every command in it is one of the program")
  func options() throws {
    #expect(Self.calls.count >= 12)
    #expect(
      Set(Self.calls.map { $0[0] }) == ["watch", "run", "status", "report", "clean", "explain"])
    var help: [String: String] = [:]
    for call in Self.calls {
      let text = try help[call[0]] ?? Program.run([call[0], "--help"]).output
      help[call[0]] = text
      for word in call where word.hasPrefix("--") {
        #expect(
          text.contains(try Regex("[ /]\(word)[ ,/\\n]")), "\(call[0]) has no \(word)")
      }
    }
  }

  @Test("The defaults that it tells are those of the program")
  func defaults() throws {
    let text = try Program.run(["watch", "--help"]).output
    // Behind the usage, which names them as well.
    let help = text[try #require(text.range(of: "OPTIONS:")).upperBound...]
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
