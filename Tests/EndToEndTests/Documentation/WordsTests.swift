import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The words of the sources")
struct WordsTests {
  /// Modules whose comments and names were rewritten in the field's words.
  private static let modules = [
    "Benchmarking", "Captures", "Catalog", "Cluster", "Codecs", "Exports", "Geometry", "Output",
    "PageMarkup", "Pages", "Parallel", "Pipeline", "Processes", "Processing", "Receiving",
    "Reports", "Runner", "Stages",
    "Storage", "SyntheticCaptures", "Watch", "scanmill",
  ]

  /// Left: a word that readers of the field do not know in this sense; right: the one to use.
  private static let replaced = [
    ("bellpull", "handle"), ("crew", "thread pool"), ("glance", "preview"), ("hush", "drain"),
    ("ledger", "accounting"), ("looker", "scanner"), ("shelf", "store"),
    ("stranger", "unrecognized"),
    ("nobody", "say who or what"), ("somebody", "say who or what"), ("thicket", "noise"),
    ("room", "memory, space or module"),
  ]

  /// Files that speak of actual rooms and shelves: those of the rendered scene.
  private static func isScene(_ path: String) -> Bool {
    path.contains("/SyntheticCaptures/World/") || path.contains("/SyntheticCaptures/Rig.swift")
  }

  @Test("Comments use the words of the field", arguments: modules)
  func comments(module: String) throws {
    let folder = Fixtures.projectRoot.appending("Sources").appending(module).string
    let files = try #require(FileManager.default.enumerator(atPath: folder))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
    #expect(!files.isEmpty)
    for file in files where !Self.isScene("/\(module)/\(file)") {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      for line in text.split(separator: "\n") {
        let comment = file.hasSuffix(".md") ? line : Self.comment(in: line)
        let words = comment.lowercased().split { !$0.isLetter }
        for (word, better) in Self.replaced where words.contains(Substring(word)) {
          Issue.record("\(module)/\(file): '\(word)' (better: \(better)) in \(line)")
        }
      }
    }
  }

  /// The comment of a line that has nothing else; empty for other lines.
  private static func comment(in line: Substring) -> Substring {
    let text = line.drop { $0 == " " }
    return text.hasPrefix("//") ? text : ""
  }
}
