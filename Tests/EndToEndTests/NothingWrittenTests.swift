import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Verbs that change nothing write nothing where no output of ours is", .runsPrograms)
struct NothingWrittenTests {
  private let folder: TemporaryFolder
  /// Where the program runs.
  private var desk: FilePath { folder.path.appending("desk") }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(desk)
  }

  /// What somebody names.
  enum Place: String, CaseIterable {
    case empty, foreign, foreignRuns, staging, readOnlyOutput
  }

  private func make(_ place: Place) throws -> FilePath {
    let named = folder.path.appending(place.rawValue)
    switch place {
    case .empty: try FileSystem.makeFolder(named)
    case .foreign:
      try FileSystem.makeFolder(named.appending("holiday"))
      try OutputFile.write([1, 2, 3], to: named.appending("holiday/beach.jpg"))
      try OutputFile.write([1], to: named.appending("notes.txt"))
    case .foreignRuns:
      try FileSystem.makeFolder(named.appending("runs/experiment-1"))
      try OutputFile.write(
        Array("{}\n".utf8), to: named.appending("runs/experiment-1/events.jsonl"))
      try OutputFile.write(
        Array("{}\n".utf8), to: named.appending("runs/experiment-1/run.json"))
    case .staging, .readOnlyOutput:
      try Program.synthesize("scannet --frames 2 --width 324 --height 242 --id scan", to: named)
      guard place == .readOnlyOutput else { break }
      let output = folder.path.appending("output")
      try #require(
        try Program.run("run \(named) --output \(output)").status == 0)
      for name in [""] + (try output.namesBelow()) {
        let path = output.pushing(FilePath(name)).string
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        try FileManager.default.setAttributes(
          [.posixPermissions: isFolder.boolValue ? 0o555 : 0o444], ofItemAtPath: path)
      }
      return output
    }
    return named
  }

  /// All names below a folder with what would show a change.
  private func listing(_ root: FilePath) throws -> [String] {
    let names = try root.namesBelow()
    return try ([""] + names).sorted().map { name in
      let found = try FileManager.default.attributesOfItem(
        atPath: root.pushing(FilePath(name)).string)
      let time = (found[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      return "\(name) \(found[.size] ?? 0) \(time) \(found[.systemFileNumber] ?? 0)"
    }
  }

  private static let verbs: [[String]] = [
    ["status", "PLACE"], ["status", "PLACE", "--json"], ["status", "PLACE", "--csv"],
    ["status", "PLACE", "--staging", "PLACE"], ["report", "PLACE", "--format", "json"],
    ["report", "PLACE", "--format", "csv"], ["explain", "scan", "--output", "PLACE"],
    ["explain", "scan", "color", "--output", "PLACE"],
    ["view", "PLACE", "--output", "look.png"], ["run", "PLACE", "--output", "PLACE/none", "-n"],
  ]

  @Test("Listing and times of a folder are the same before and after", arguments: Place.allCases)
  func listings(place: Place) throws {
    let named = try make(place)
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: named.string)
    }
    let before = try listing(named)
    for verb in Self.verbs {
      let words = verb.map { $0.replacing("PLACE", with: named.string) }
      _ = try Program.run(words, in: desk)
      #expect(try listing(named) == before, "\(words.joined(separator: " "))")
    }
    // HTML is a page that is asked for; where there is nothing to report, none is written.
    if place != .readOnlyOutput {
      #expect(try Program.run("report \(named)", in: desk).status == 65)
      #expect(try listing(named) == before)
    }
  }
}
