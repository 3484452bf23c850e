import Foundation
import SystemPackage
import TestSupport
import Testing

/// Pages of `docs/` and the files beside them.
enum DocumentedPage {
  static let docs = Fixtures.projectRoot.appending("docs")

  static func text(_ path: String) throws -> String { try docs.appending(path).text() }

  /// Blocks of code of one language.
  static func blocks(_ language: String, of page: String) throws -> [String] {
    try text(page).components(separatedBy: "```").enumerated().filter {
      $0.offset % 2 == 1 && $0.element.hasPrefix("\(language)\n")
    }.map { String($0.element.dropFirst(language.count + 1)) }
  }

  /// The value of a key of a unit of systemd, continued lines joined.
  static func value(_ key: String, _ unit: String) throws -> String? {
    try text(unit).replacing("\\\n", with: " ").lines
      .first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
  }
}

@Suite("Pages with commands")
struct DocumentedPageTests {
  @Test("Every block for a shell is one", arguments: [("overnight.md", 10), ("uploads.md", 7)])
  func shell(page: String, least: Int) throws {
    let folder = try TemporaryFolder()
    let blocks = try DocumentedPage.blocks("sh", of: page)
    #expect(blocks.count > least)
    for (index, block) in blocks.enumerated() {
      let file = folder.path.appending("\(index).sh")
      try file.write(block)
      try OtherPrograms.run("sh", ["-n", file.string])
    }
  }
}
