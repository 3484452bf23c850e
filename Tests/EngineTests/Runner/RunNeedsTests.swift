@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What a run needs")
struct RunNeedsTests {
  /// What a run says of some stages of captures that were not processed, and how many of them were opened.
  private static func said(
    _ captures: [String], stages: [String], _ workshop: Workshop
  ) throws -> (line: String, opened: Int) {
    let registry = CaptureRegistry([ToyReader.self])
    let look: CaptureLook = { (recognition) throws(CaptureError) in
      var opened = OpenedCapture(try registry.open(recognition), of: recognition, registry)
      opened.depth = OpenedCapture.Pictures(count: 10, width: 1, height: 1)
      return opened
    }
    var needs = RunNeeds(workshop.pipeline, root: workshop.output, look: look)
    for capture in workshop.findings(captures).flatMap(\.captures) {
      needs.add(capture, workshop.pipeline.stages.filter { stages.contains($0.name) })
    }
    let opened = captures.map { workshop.probe($0).takeOpened() }.reduce(0, +)
    return (needs.line?.replacing(#/ \(.*?\)/#, with: "") ?? "", opened)
  }

  @Test(
    "Before the first capture of a family three of it are opened, and tell of the others",
    arguments: [
      (1, ["depth"], "needs about 10.0 kB", 1), (5, ["depth"], "needs about 50.0 kB", 3),
      // What is removed at the end is not needed.
      (5, ["frames", "depth"], "needs about 50.0 kB", 3),
      // Tables take little beside pictures.
      (5, ["tables"], "needs about 10 bytes", 0),
    ])
  func opened(_ captures: Int, _ stages: [String], _ line: String, _ opened: Int) throws {
    let workshop = try Workshop()
    let names = (0..<captures).map { "new-\($0)" }
    for name in names { try workshop.add(name) }
    let said = try Self.said(names, stages: stages, workshop)
    #expect(said.line == line + "; a guess: no result here tells of some of it")
    #expect(said.opened == opened)
  }

  @Test(
    "A capture that cannot be opened, or lacks what a stage is about, counts by its size, or not")
  func others() throws {
    let workshop = try Workshop()
    try workshop.add("broken", id: "unopenable")
    try workshop.add("flat", depth: nil)
    // 0.3 of 17 bytes.
    for (name, needs) in [("broken", "needs about 5 bytes; a guess"), ("flat", "")] {
      let said = try Self.said([name], stages: ["depth"], workshop)
      #expect(
        said.line.hasPrefix(needs) && said.line.isEmpty == needs.isEmpty && said.opened == 1,
        "\(said)")
    }
  }

  @Test(
    "A watcher waits for the least that stages of opened captures write, then for what results tell"
  )
  func watched() throws {
    let workshop = try Workshop()
    let registry = CaptureRegistry([ToyReader.self])
    func needs() throws -> Int64 {
      let capture = try #require(workshop.findings(nil)[0].captures.first)
      var needs = RunNeeds(workshop.pipeline, root: workshop.output) {
        (recognition) throws(CaptureError) in
        var opened = OpenedCapture(try registry.open(recognition), of: recognition, registry)
        opened.depth = OpenedCapture.Pictures(count: 10, width: 1, height: 1)
        return opened
      }
      needs.look(into: capture, ofBytes: 17)
      return needs.knownBytes(capture.family.rawValue, ofBytes: 17)
    }
    #expect(try needs() == 1000)
    #expect(workshop.run().exit == 0)
    #expect(try 1..<1000 ~= needs())
  }

  @Test("Once a capture of a family is made none is opened, also where stages do not apply to it")
  func known() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    try workshop.add("flat", depth: nil)
    #expect(workshop.run(captures: ["scan"]).exit == 0)
    let all = workshop.pipeline.stages.map(\.name)
    let said = try Self.said(["flat"], stages: all, workshop)
    #expect(said.opened == 0 && said.line.contains(#/^needs about \d+ bytes, about /#), "\(said)")
  }

  @Test("A run says what it needs for what is new or has changed, and for nothing else")
  func needs() throws {
    let workshop = try Workshop()
    // What does not apply to a capture is not needed, either.
    try workshop.add("flat", color: "blue", depth: nil)
    func needs() -> String? {
      let batch = workshop.batch(Selection(), { _ in }, clock: .system)
      let targets = batch.targets(workshop.findings(nil))
      let given = try? RenamedResults(root: workshop.output).give(to: targets, moves: true) {
        _, _ in
      }
      return batch.outlook(given ?? targets).needs
    }
    #expect(needs()?.hasPrefix("needs about ") == true)
    #expect(workshop.run().exit == 0)
    #expect(needs() == nil)
    for (name, color) in [("flat", "blue"), ("scan", "red")] {
      try FileSystem.rename(workshop.capture(name), to: workshop.capture("renamed-\(name)"))
      #expect(needs() == nil && workshop.published("color", of: "renamed-\(name)") == color)
    }
    try workshop.write("other", to: "color.bin", of: "renamed-scan")
    #expect(needs() != nil)
  }

  @Test("A run's needs follow parameters, and what it replaces has one name wherever it is told")
  func parameters() throws {
    let workshop = try Workshop()
    try workshop.write(String(repeating: "red", count: 1000), to: "color.bin")
    #expect(workshop.run().exit == 0)
    let capture = try #require(workshop.findings(nil)[0].captures.first)
    func bytes() throws -> Int64 {
      let color = try #require(workshop.pipeline["color"])
      let registry = CaptureRegistry([ToyReader.self])
      let content = OpenedCapture(try registry.open(capture), of: capture, registry)
      return RunNeeds(workshop.pipeline, root: workshop.output).bytes(of: color, capture, content)
    }
    #expect(try abs(bytes() - 3000) < 2)
    try workshop.set("color.every=4")
    #expect(try abs(bytes() - 750) < 2)
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let targets = batch.targets(workshop.findings(nil))
    let jobs = batch.plan(targets)[0].jobs.filter { $0.reason == .parameters }
    #expect(jobs.map(\.details) == [["every: default -> 4"], ["color.every: default -> 4"]])
    #expect(
      batch.outlook(targets).change.lines
        == ["color.every default → 4: replaces 3000 frames in 1 capture; aligned and tables follow"]
    )
    // Results with these parameters tell more than a rule.
    #expect(workshop.run().exit == 0)
    #expect(try abs(bytes() - 3000) < 2)
  }

  @Test("Parameters that a stage has no more are told as one change")
  func goneParameters() throws {
    var job = PlannedJob(stage: "color", uses: "toy-color", action: .run, reason: .parameters)
    job.details = ["gone: 3 -> default", "lost: 1 -> default", "suffix: a -> b"]
    job.frames = 3
    var change = RequestChange()
    change.take(CapturePlan(id: "scan", jobs: [job]), of: try Workshop().pipeline, cleaned: [:])
    #expect(
      change.lines == [
        "color takes other parameters than before: replaces 3 frames in 1 capture",
        "color.suffix a → b: replaces 3 frames in 1 capture",
      ])
  }
}
