import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What runs again, and why")
struct RerunTests {
  static let everything = [
    "color made never-built", "frames made never-built", "depth made never-built",
    "aligned made never-built", "tables made never-built",
  ]

  /// A workshop in which everything is done.
  static func done(_ pipeline: String = Workshop.usual) throws -> Workshop {
    let workshop = try Workshop(pipeline)
    #expect(workshop.run().exit == 0)
    _ = workshop.probe().takeRan()
    return workshop
  }

  @Test("The first run builds everything, the second does nothing")
  func twice() throws {
    let workshop = try Workshop()
    let first = workshop.run()
    #expect(first.exit == 0)
    #expect(first["scan"].outcome == .made)
    #expect(first.stages() == Self.everything)
    #expect(
      workshop.published("tables") == "[aligned [frames deep]][color red][depth [frames deep]]")
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
    _ = workshop.probe().takeRan()
    let before = try FileIdentity(of: workshop.layout().captureDocument)

    let second = workshop.run()
    #expect(second.exit == 0)
    #expect(second.busy() == [])
    #expect(second["scan"].stages.map(\.frames) == first["scan"].stages.map(\.frames))
    #expect(workshop.probe().takeRan() == [])
    #expect(try FileIdentity(of: workshop.layout().captureDocument) == before)
  }

  @Test("A changed parameter reruns the stage and those that read its output")
  func parameter() throws {
    let workshop = try Self.done()
    try workshop.set("depth.suffix=!")
    #expect(
      workshop.plan() == [
        "frames run parameters", "depth run parameters", "aligned run input-rebuilt",
        "tables run input-rebuilt",
      ])
    let result = workshop.run()
    #expect(
      result.busy() == [
        "frames made parameters", "depth made parameters", "aligned made input-rebuilt",
        "tables made input-rebuilt",
      ])
    #expect(workshop.published("depth") == "[frames deep!]!")
    #expect(workshop.run().busy() == [])
  }

  @Test("A stage that runs and makes the same stops there")
  func cutOff() throws {
    let workshop = try Self.done()
    let result = workshop.run(.forced("color"))
    #expect(result.busy() == ["color made forced"])
    #expect(workshop.probe().takeRan() == ["color"])
    // Four letters are all there are: other parameters, the same output.
    try workshop.set("frames.letters=4")
    #expect(workshop.plan().count == 4)
    #expect(workshop.run().busy() == ["frames made parameters"])
    #expect(workshop.probe().takeRan() == ["frames"])
  }

  @Test("An input that was touched or copied anew, but holds the same, reruns nothing")
  func touched() throws {
    let workshop = try Self.done()
    try workshop.write("red", to: "color.bin")
    var times = [
      timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 5),
    ]
    let depth = workshop.capture("scan").appending("depth.bin").string
    #expect(utimensat(AT_FDCWD, depth, &times, 0) == 0)
    #expect(workshop.run().busy() == [])
  }

  @Test("A file that a parameter names counts by its content")
  func external() throws {
    let workshop = try Workshop()
    let table = workshop.folder.path.appending("table.txt")
    try Text.write("T", to: table)
    try workshop.set("aligned.table=\(table)")
    _ = workshop.run()
    #expect(workshop.published("aligned") == "[frames deep]T")
    try Text.write("U", to: table)
    #expect(
      workshop.run().busy() == [
        "frames made outputs-missing", "aligned made input-changed", "tables made input-rebuilt",
      ])
    try FileSystem.remove(table)
    let result = workshop.run()
    #expect(result.exit == 1)
    #expect(result.busy() == ["aligned failed", "tables blocked"])
    #expect(result.message("aligned") == "\(table): cannot be accessed: no such file")
  }

  @Test("A deleted output is made again, a truncated one too")
  func outputs() throws {
    let workshop = try Self.done()
    try FileSystem.remove(workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == ["color made outputs-missing"])
    #expect(workshop.published("color") == "red")
    try Text.write("r", to: workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == ["color made outputs-altered"])
    #expect(workshop.published("color") == "red")
    try FileSystem.remove(workshop.layout().artifact("color"))
    #expect(workshop.run().busy() == ["color made never-built"])
    try Text.write("{", to: workshop.layout().record("color"))
    #expect(workshop.run().busy() == ["color made outputs-altered"])
  }

  @Test("An output altered at the same length is found by --verify only")
  func verify() throws {
    let workshop = try Self.done()
    try Text.write("rad", to: workshop.layout().artifact("color").appending("out.txt"))
    #expect(workshop.run().busy() == [])
    #expect(
      workshop.plan { $0.verify = true } == [
        "color run outputs-altered", "tables run input-rebuilt",
      ])
    #expect(workshop.run { $0.verify = true }.busy() == ["color made outputs-altered"])
    #expect(workshop.published("color") == "red")
  }

  @Test("A file that the record does not list is told by --verify, and makes nothing stale")
  func unlisted() throws {
    let workshop = try Self.done()
    let color = workshop.layout().artifact("color")
    for name in ["more.txt", ".DS_Store"] { try Text.write("x", to: color.appending(name)) }
    #expect(workshop.run()["scan"].warnings.isEmpty)
    let verified = workshop.run { $0.verify = true }
    #expect(verified.busy() == [])
    #expect(verified["scan"].warnings.map(\.code) == [.unlistedFile])
    #expect(verified["scan"].warnings.map(\.subject) == ["color"])
    #expect(verified["scan"].warnings.first?.message.contains("more.txt is in color/") == true)
    for verifies in [false, true] {
      let batch = workshop.batch(Selection(), { $0.verify = verifies }, clock: .system)
      let planned = batch.plan(batch.targets(workshop.findings(nil)))[0].warnings
      #expect(planned == (verifies ? verified["scan"].warnings : []))
    }
  }

  @Test("--only runs exactly the stage; with inputs that are not up to date it is blocked")
  func only() throws {
    let workshop = try Self.done()
    try workshop.write("tan", to: "color.bin")
    try workshop.write("abyss", to: "depth.bin")
    #expect(workshop.run(.only("color")).stages() == ["color made input-changed"])
    let blocked = workshop.run(.only("aligned"))
    #expect(blocked.exit == 1)
    #expect(blocked["scan"].outcome == .blocked)
    #expect(blocked.stages() == ["aligned blocked"])
    #expect(blocked.message("aligned") == "its input 'depth' is not up to date (input-changed)")
    #expect(workshop.run(.only("tables")).stages() == ["tables made input-rebuilt"])
  }

  @Test(
    "A stream that went away makes its stages not applicable, and nobody reads what is left of them"
  )
  func wentAway() throws {
    let workshop = try Self.done()
    try workshop.remove("color.bin")
    #expect(workshop.plan(.only("tables")) == ["tables run input-rebuilt"])
    #expect(workshop.run(.only("tables")).stages() == ["tables made input-rebuilt"])
    #expect(workshop.published("tables") == "[aligned [frames deep]][depth [frames deep]]")
    #expect(workshop.run().busy() == ["color not-possible"])
    #expect(workshop.record("color") == nil)
    try workshop.write("red", to: "color.bin")
    #expect(workshop.run().busy() == ["color made never-built", "tables made input-rebuilt"])
  }

  @Test("Nothing but the stages that apply is made, and that is done")
  func notApplicable() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    let result = workshop.run()
    #expect(result.exit == 0)
    #expect(
      result.stages() == [
        "color made never-built", "frames not-possible", "depth not-possible",
        "aligned not-possible", "tables made never-built",
      ])
    #expect(result["scan"].outcome == .made)
    #expect(result["scan"].stagesDone == 2 && result["scan"].stagesApplicable == 2)
    #expect(workshop.folders() == ["capture.json", "color", "tables"])
    #expect(result.message("depth") == "the family records no depth")
  }

  @Test(
    "A result whose stage has nothing to do any more is told of before it goes and by the run, once"
  )
  func removedResults() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    try workshop.add("other")
    try workshop.remove("depth.bin")
    let reason = "the family records no depth"
    let bytes = try #require(workshop.record("aligned")).outputs.reduce(0) { $0 + $1.bytes }
    // The frames were removed after use: nothing of them is lost now.
    let gone = ["depth", "aligned"].map {
      RemovedResult(stage: $0, reason: reason, files: 2, bytes: bytes)
    }
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let plans = batch.plan(batch.targets(workshop.findings(nil)))
    #expect(plans.first { $0.id == "scan" }?.removedResults == gone)
    #expect(plans.first { $0.id == "other" }?.removedResults == [])
    let result = workshop.run()
    #expect(result["scan"].removedResults == gone && result["other"].removedResults == nil)
    #expect(workshop.run()["scan"].removedResults == nil)
    #expect(
      RemovedResult.lines([gone, gone, [gone[0]]]) == [
        "depth of 3 captures (\(reason)), 6 files", "aligned of 2 captures (\(reason)), 4 files",
      ])
  }
}

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
    #expect(
      said.line == line
        + "; a guess: no result here tells of some of it, and pictures of little detail take much less"
    )
    #expect(said.opened == opened)
  }

  @Test(
    "A capture that cannot be opened, or lacks what a stage is about, counts by its size, or not")
  func others() throws {
    let workshop = try Workshop()
    try workshop.add("broken", id: "unopenable")
    try workshop.add("flat", depth: nil)
    #expect(OpenedCapture.Pictures(count: 1, width: 1, height: 0) == nil)
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

  @Test(
    "A run that does not fit by what results tell says so, with what helps; a guess and what is replaced do not"
  )
  func shortage() throws {
    let workshop = try Workshop()
    try workshop.add("new")
    func line(free: Int64, replaced: Int64? = 0, isElsewhere: Bool = false) throws -> String {
      var needs = RunNeeds(workshop.pipeline, root: workshop.output, isElsewhere: isElsewhere)
      for found in workshop.findings(["new"]).flatMap(\.captures) {
        needs.add(found, workshop.pipeline.stages, replaced: replaced)
      }
      return try #require(needs.line(free: free))
    }
    #expect(try !line(free: 1).contains("fit"))
    #expect(workshop.run(captures: ["scan"]).exit == 0)
    let said = try line(free: 1)
    #expect(
      said.contains("; this does not fit: free ") && said.contains("another --output"), "\(said)")
    #expect(try !line(free: 1_000_000).contains("fit"))
    #expect(try !line(free: 1, replaced: nil).contains("fit"))
    // What takes the place of results still has intermediates, unless these lie on another disk.
    #expect(try line(free: 1, replaced: 1_000_000).contains("does not fit, as intermediates take"))
    #expect(try !line(free: 1, replaced: 1_000_000, isElsewhere: true).contains("fit"))
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
    // Of a stage that follows the parameter alone, the frames are told as its own.
    #expect(workshop.run(.only("color")).exit == 0)
    let rest = workshop.batch(Selection(), { _ in }, clock: .system)
    let line = rest.outlook(rest.targets(workshop.findings(nil))).change.lines.first ?? ""
    #expect(
      line.contains(
        #/^color.every default → 4: replaces \d+ frames of aligned in 1 capture; tables follows$/#),
      "\(line)")
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
