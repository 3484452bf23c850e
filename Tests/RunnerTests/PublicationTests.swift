import Captures
import Pipeline
import Storage
import SystemPackage
import Testing

@testable import Runner

@Suite("Publication, stopped between every two steps")
struct PublicationTests {
  /// What was there before the new artifact.
  enum Before: CaseIterable, Sendable {
    case nothing, artifact, removedIntermediate, halfRemovedIntermediate
  }

  struct Kill: Sendable, CustomTestStringConvertible {
    var before: Before
    var steps: Int
    var mayExchange: Bool

    var testDescription: String {
      "\(before), \(steps) steps done, \(mayExchange ? "exchange" : "move aside")"
    }

    static let all: [Kill] = Before.allCases.flatMap { before in
      (0...Publication.Step.allCases.count).flatMap { steps in
        [true, false].map { Kill(before: before, steps: steps, mayExchange: $0) }
      }
    }
  }

  static func record(_ text: String) throws -> ArtifactRecord {
    try ArtifactRecord(
      stage: "depth.v2",
      ingredients: Ingredients(
        uses: "toy", version: 1, parameters: [:],
        inputs: ArtifactRecord.Inputs(artifacts: [:], capture: nil, external: [:])),
      recorded: [:],
      outputs: [
        OutputEntry(path: "f", bytes: Int64(text.utf8.count), sha256: Digest(of: text))
      ], started: "", finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1,
      warnings: [])
  }

  /// A staging folder with one file and the steps to publish it.
  static func publication(
    _ text: String, _ layout: OutputLayout, run: String, mayExchange: Bool = true
  ) throws -> Publication {
    let staging = try StagingFolder(at: layout.staging("depth.v2", run: run))
    try staging.write(Array(text.utf8), as: "f")
    return Publication(
      staging.path, try record(text), layout: layout, run: run, mayExchange: mayExchange)
  }

  /// The text of the artifact that counts, `removed`, or `none`.
  static func state(_ layout: OutputLayout) throws -> String {
    guard let published = ArtifactShelf(layout).published("depth.v2", verify: true) else {
      return "none"
    }
    if published.state == .removed {
      #expect(ArtifactShelf(layout).input("depth.v2") == nil)
      return "removed"
    }
    #expect(published.state == .intact)
    return Text.read(layout.artifact("depth.v2").appending("f")) ?? "?"
  }

  static func prepare(_ before: Before, _ layout: OutputLayout) throws -> String {
    guard before != .nothing else { return "none" }
    var old = try publication("old", layout, run: "run-1")
    try old.perform()
    switch before {
    case .nothing, .artifact: return "old"
    case .removedIntermediate:
      try ArtifactShelf(layout).removeIntermediate("depth.v2")
    case .halfRemovedIntermediate:
      // As a kill right after the record was set apart leaves it.
      try FileSystem.makeFolder(layout.removedRecords)
      try FileSystem.rename(layout.record("depth.v2"), to: layout.removedRecord("depth.v2"))
    }
    return "removed"
  }

  @Test(
    "The old artifact, none, or the new one; sweeping heals, and the next one publishes",
    arguments: Kill.all)
  func killed(kill: Kill) throws {
    let folder = try TestFolder()
    let layout = OutputLayout(root: folder.path, name: "scan")
    let old = try Self.prepare(kill.before, layout)
    var publication = try Self.publication(
      "new", layout, run: "run-2", mayExchange: kill.mayExchange)
    for step in Publication.Step.allCases.prefix(kill.steps) { try publication.perform(step) }

    // Killed here. A reader without lock sees the old one, none, or the new one.
    let now = try Self.state(layout)
    #expect([old, "none", "new"].contains(now))
    let isInPlace = kill.steps > Publication.Step.allCases.firstIndex(of: .putInPlace) ?? 0
    if isInPlace { #expect(now == "new") }

    try Publication.sweep(layout)
    let healed = try Self.state(layout)
    #expect(healed == (now == "none" ? old : now))
    #expect(!FileSystem.exists(layout.stagingRoot))
    if healed == "removed" { #expect(!FileSystem.exists(layout.artifact("depth.v2"))) }
    if healed == "new" { #expect(!FileSystem.exists(layout.removedRecord("depth.v2"))) }
    try Publication.sweep(layout)
    #expect(try Self.state(layout) == healed)

    var next = try Self.publication("next", layout, run: "run-3", mayExchange: kill.mayExchange)
    try next.perform()
    #expect(try Self.state(layout) == "next")
    #expect(try FileSystem.names(in: layout.artifact("depth.v2")) == ["artifact.json", "f"])
    #expect(try FileSystem.names(in: layout.stagingRoot) == [])
    #expect(!FileSystem.exists(layout.removedRecord("depth.v2")))
  }

  @Test("A link in the artifact's place is replaced, not followed")
  func link() throws {
    let folder = try TestFolder()
    let layout = OutputLayout(root: folder.path, name: "scan")
    let elsewhere = folder.path.appending("elsewhere")
    try Text.write("mine", to: elsewhere.appending("f"))
    try FileSystem.makeFolder(layout.folder)
    #expect(TestLink.make(layout.artifact("depth.v2"), to: elsewhere))
    var publication = try Self.publication("new", layout, run: "run-1")
    try publication.perform()
    #expect(try Self.state(layout) == "new")
    #expect(!FileSystem.isLink(layout.artifact("depth.v2")))
    #expect(Text.read(elsewhere.appending("f")) == "mine")
  }

  @Test("Sweeping removes unfinished replacements and leaves everything else")
  func sweep() throws {
    let folder = try TestFolder()
    let layout = OutputLayout(root: folder.path, name: "scan")
    for name in ["capture.json", ".capture.json.123.new", "mine.new", ".mine", "color/.x.1.new"] {
      try Text.write("x", to: layout.folder.appending(name))
    }
    try Text.write("x", to: layout.notes.appending(".digests.json.9.new"))
    try Text.write("x", to: layout.notes.appending("digests.json"))
    try Text.write("x", to: layout.failed("color").appending("failure.json"))
    try Publication.sweep(layout)
    #expect(
      try FileSystem.names(in: layout.folder) == [
        ".failed", ".mine", ".scanmill", "capture.json", "color", "mine.new",
      ])
    #expect(try FileSystem.names(in: layout.notes) == ["digests.json"])
    #expect(try FileSystem.names(in: layout.artifact("color")) == [".x.1.new"])
  }

  @Test("An aside name gives its stage back, and no staging name is one")
  func asideNames() {
    let layout = OutputLayout(root: "/out", name: "scan")
    for stage in ["color", "a.b", "a..b", "old.color", ".", "x."] {
      let name = layout.aside(stage, run: "20260101T000000-7").lastComponent?.string ?? ""
      #expect(OutputLayout.stage(ofAside: name) == stage)
      let staging = layout.staging(stage, run: "20260101T000000-7").lastComponent?.string ?? ""
      #expect(OutputLayout.stage(ofAside: staging) == nil)
    }
    for name in ["", "~", "~.", "~x", "."] { #expect(OutputLayout.stage(ofAside: name) == nil) }
  }
}
