@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Any history of changes ends like a fresh run")
struct RandomRunsTests {
  /// Two levels of intermediates, optional inputs, two stages of one kind.
  static let pipeline = """
    schema: 1
    stages:
      color: {uses: toy-color}
      raw: {uses: toy-frames, keep: false}
      fine: {uses: toy-refine, needs: [raw], keep: false}
      depth: {uses: toy-depth, needs: [fine]}
      aligned: {uses: toy-aligned, needs: [raw]}
      tables: {uses: toy-tables, optional: [color, depth, aligned]}
    """
  static let stages = ["color", "raw", "fine", "depth", "aligned", "tables"]

  @Test(
    "Edits, parameters, lost outputs, failures, partial and forced runs, in any order",
    arguments: 0..<Rounds.of(3, soak: 6))
  func history(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let workshop = try Workshop(Self.pipeline)
    for _ in 0..<25 {
      try Self.disturb(workshop, &random)
      var selection = Selection()
      if Int.random(in: 0..<3, using: &random) == 0 {
        selection.only = Self.stages.randomElement(using: &random).map { [$0] } ?? []
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        selection.forced = Set(Self.stages.shuffled(using: &random).prefix(2))
      }
      _ = workshop.run(selection)
    }
    for stage in Self.stages { workshop.probe().before(stage, nil) }
    #expect(workshop.run { $0.verify = true }.exit == 0)
    #expect(workshop.run().busy().allSatisfy { $0.hasSuffix("not-possible") })

    let fresh = try Workshop(Self.pipeline)
    fresh.pipeline = workshop.pipeline
    for file in ["color.bin", "depth.bin"] {
      if let text = Text.read(workshop.capture("scan").appending(file)) {
        try fresh.write(text, to: file)
      } else {
        try fresh.remove(file)
      }
    }
    #expect(fresh.run().exit == 0)
    for stage in Self.stages {
      guard let expected = fresh.record(stage) else { continue }
      #expect(workshop.record(stage)?.outputDigest == expected.outputDigest)
      #expect(workshop.record(stage)?.fingerprint == expected.fingerprint)
    }
    let applicable = fresh.folders()
    #expect(workshop.folders().filter(applicable.contains) == applicable)
  }

  private static func disturb(_ workshop: Workshop, _ random: inout SeededGenerator) throws {
    let stage = stages.randomElement(using: &random) ?? "color"
    let word = ["red", "tan", "blue", "grey"].randomElement(using: &random) ?? "red"
    switch Int.random(in: 0..<9, using: &random) {
    case 0: try workshop.write(word, to: "color.bin")
    case 1: try workshop.write(word, to: "depth.bin")
    case 2: try workshop.remove("color.bin")
    case 3: try workshop.set("\(stage).suffix=\(word.prefix(1))")
    case 4: try workshop.set("\(stage).letters=\(Int.random(in: 2...4, using: &random))")
    case 5: try FileSystem.remove(workshop.layout().artifact(stage))
    case 6: try FileSystem.remove(workshop.layout().artifact(stage).appending("out.txt"))
    case 7: workshop.probe().before(stage) { _ in throw FailureTests.Broken() }
    default: for stage in stages { workshop.probe().before(stage, nil) }
    }
  }
}
