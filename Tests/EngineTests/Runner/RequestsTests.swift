@testable import Captures
@testable import Core
@testable import Engine
import SystemPackage
import TestSupport
import Testing

@Suite("What captures were asked for, run after run")
struct RequestsTests {
  private static let reader = RequestReader(.toys)

  private static func source(
    _ name: String, _ text: String = Workshop.usual, _ settings: String...,
    until: [String] = []
  ) -> PipelineSource {
    var source = PipelineSource(
      name: name, text: text, settings: settings.compactMap(ParameterSetting.init))
    var limits = Selection()
    limits.until = until
    source.limits = limits.limits
    return source
  }

  private static func requests(_ sources: PipelineSource...) -> Requests {
    sources.reduce(Requests()) { $0.adding($1, reader) }
  }

  private static let colorEndsInB =
    "schema: 1\nstages:\n  color: {uses: toy-color, with: {suffix: b}}"

  private static let colorAlone = "schema: 1\nstages:\n  color: {uses: toy-color}"

  /// The value of `color.suffix` that requests add up to.
  private static func suffix(_ requests: Requests) throws -> String? {
    try #require(reader.read(requests)).pipeline["color"]?.parameters[Toy.suffix]
  }

  @Test("The stages of all requests count, and those alone")
  func stages() throws {
    let part = Self.requests(Self.source("a", until: ["depth"]))
    let read = try #require(Self.reader.read(part))
    #expect(read.choice.stages(of: read.pipeline) == ["frames", "depth"])
    let more = part.adding(Self.source("b", Self.colorEndsInB), Self.reader)
    let both = try #require(Self.reader.read(more))
    #expect(both.choice.stages(of: both.pipeline) == ["frames", "depth", "color"])
    #expect(both.pipeline["tables"] != nil)
    var cleaned = more
    cleaned.cleaned["depth"] = "2026-11-24T00:00:00Z"
    // An inner step goes with its stage, unless another one reads it.
    let rest = try #require(Self.reader.read(cleaned))
    #expect(rest.choice.stages(of: rest.pipeline) == ["color"])
    let aligned = cleaned.adding(Self.source("a", until: ["aligned"]), Self.reader)
    let shared = try #require(Self.reader.read(aligned))
    #expect(shared.choice.stages(of: shared.pipeline) == ["frames", "aligned", "color"])
  }

  @Test("A parameter keeps the value that was named for it last, by whatever pipeline or setting")
  func values() throws {
    let plain = Self.source("a")
    let set = Self.source("a", Workshop.usual, "color.suffix=c")
    let other = Self.source("b", Self.colorEndsInB)
    #expect(try Self.suffix(Self.requests(plain)) == "")
    #expect(try Self.suffix(Self.requests(set, plain)) == "c")
    #expect(try Self.suffix(Self.requests(set, other)) == "b")
    #expect(try Self.suffix(Self.requests(other, plain)) == "b")
    #expect(try Self.suffix(Self.requests(other, set)) == "c")
    #expect(
      try Self.suffix(
        Self.requests(set, plain, Self.source("a", Workshop.usual, "color.suffix=default"))) == "")
    // Taking a setting back gives the value of the pipeline, not that of the stage.
    let back = Self.source("b", Self.colorEndsInB, "color.suffix=default")
    #expect(
      try Self.suffix(
        Self.requests(Self.source("b", Self.colorEndsInB, "color.suffix=c"), back)) == "b")
    #expect(
      try Self.suffix(
        Self.requests(
          Self.source("b", Self.colorEndsInB, "color.suffix=c", "color.suffix=default"))) == "b")
    // Also of a stage that only the other request has, and that follows it.
    let every = Self.source("b", Self.colorAlone, "color.every=4")
    for requests in [Self.requests(every, plain), Self.requests(plain, every)] {
      let aligned = try #require(Self.reader.read(requests)).pipeline["aligned"]
      #expect(aligned?.parameters["colorEvery"] == .integer(4))
    }
    // A value that was taken out of its file is named by nobody any more.
    #expect(try Self.suffix(Self.requests(other, Self.source("b", Self.colorAlone))) == "")
  }

  @Test(
    "A setting of a stage that only earlier requests have counts where it was asked for, and is taken back"
  )
  func settingsOfOthers() throws {
    // A pipeline with this kind of stage, by another name: a workshop knows no other kinds.
    let text = "schema: 1\nstages:\n  depth: {uses: toy-color}"
    func setting(_ words: String...) -> PipelineSource {
      var source = Self.source("b", text)
      source.settingsOfOthers = words.compactMap(ParameterSetting.init)
      return source
    }
    let asked = Self.source("a", Self.colorAlone)
    let set = Self.requests(asked, setting("color.suffix=c"))
    #expect(try Self.suffix(set) == "c")
    #expect(try Self.suffix(set.adding(asked, Self.reader)) == "c")
    #expect(try Self.suffix(set.adding(setting("color.suffix=d"), Self.reader)) == "d")
    // A later run of the same pipeline that names nothing takes nothing back.
    #expect(try Self.suffix(set.adding(Self.source("b", text), Self.reader)) == "c")
    let same = Self.requests(Self.source("b", Self.colorAlone), setting("color.suffix=c"))
    #expect(try Self.suffix(same.adding(Self.source("b", text), Self.reader)) == "c")
    let back = set.adding(setting("color.suffix=default"), Self.reader)
    #expect(try Self.suffix(back) == "")
    #expect(back.sources.count <= 3)
    // Who was never asked for the stage does not get it, and who is asked next has the value.
    let other = Self.requests(setting("color.suffix=c"))
    #expect(try Self.suffix(other) == nil)
    #expect(try Self.suffix(other.adding(asked, Self.reader)) == "c")
    #expect(
      try Self.suffix(
        other.adding(Self.source("a", Self.colorAlone, "color.suffix=e"), Self.reader)) == "e")

    // What is in force beside the texts of the pipelines is told.
    func force(_ requests: Requests) throws -> [String] {
      try #require(Self.reader.read(requests)).settings.map(\.text)
    }
    #expect(try force(Self.requests(asked)) == [])
    #expect(try force(set) == ["color.suffix=c"])
    #expect(
      try force(Self.requests(Self.source("a", Workshop.usual, "color.suffix=d"))) == [
        "color.suffix=d"
      ])
    let plain = Self.source("a")
    #expect(
      try force(Self.requests(Self.source("c", Self.colorEndsInB), plain)) == ["color.suffix=b"])

    let workshop = try Workshop()
    try workshop.add("other")
    func run(_ source: PipelineSource, _ captures: [String]? = nil) throws -> RunResult {
      workshop.pipeline = try source.definition(.toys)
      return workshop.run(captures: captures) { $0.pipelineSource = source }
    }
    #expect(try run(asked, ["scan"]).exit == 0)
    func takes(_ text: String) throws -> Bool {
      try Requests.take(
        try #require(ParameterSetting(text)), ofOutput: workshop.output, .toys)
    }
    #expect(try takes("color.suffix=c"))
    #expect(try !takes("tables.suffix=c"))
    #expect(throws: SettingError.self) { try takes("color.letters=many") }
    #expect(try run(setting("color.suffix=c")).exit == 0)
    #expect(workshop.published("color") == "redc")
    #expect(workshop.published("color", of: "other") == nil)
    #expect(try run(setting("color.suffix=default")).exit == 0)
    #expect(workshop.published("color") == "red")
  }

  @Test("Requests that add nothing are not kept, so that their number does not grow")
  func pruned() {
    let plain = Self.source("a")
    let set = (2...9).map { Self.source("a", Workshop.usual, "color.suffix=\($0)") }
    let many = set.reduce(Requests()) { $0.adding($1, Self.reader) }
    #expect(many.sources == [set[7]])
    #expect(many.adding(plain, Self.reader).sources == [set[7], plain])
    #expect(Self.requests(plain, Self.source("a", until: ["depth"])).sources.count <= 2)
    #expect(Self.requests(plain, plain).sources == [plain])
    // One that cannot be read any more, before others.
    #expect(Self.requests(Self.source("c", "stages: {"), plain).sources == [plain])
  }

  @Test(
    "A setting that there is no more is told once, and what else was asked for stays",
    arguments: [true, false])
  func lost(isByHand: Bool) throws {
    let workshop = try Workshop()
    let old = Self.source("b", Self.colorEndsInB, "color.gone=3", "color.letters=2")
    let pipeline = try Self.source("a").definition(.toys)
    let asking = RunRequest(pipeline, Self.source("a"), isByHand: isByHand, Self.reader)
    let noted = Requests(old)
    let read = try #require(Self.reader.read(noted))
    #expect(read.lost.map(\.what) == ["color.gone=3"])
    #expect(read.pipeline["color"]?.parameters.named == ["letters", "suffix"])
    let joined = asking.joined(to: noted)
    #expect(joined.lost == read.lost)
    #expect(
      joined.lost.first?.words(captures: 2).hasPrefix(
        "color.gone=3 of an earlier run counts no more in 2 captures: stage 'color' has no parameter"
      ) == true)
    #expect(joined.requested.pipeline["color"]?.parameters.named == ["letters", "suffix"])
    // The watcher leaves the request for a person to see.
    #expect(asking.joined(to: joined.requests).lost.isEmpty == isByHand)
    let unreadable = asking.joined(to: Requests(Self.source("c", "stages: {"))).lost
    #expect(unreadable.map(\.what) == ["the pipeline c"])
    // A run tells it before it starts, and the next one has nothing to tell.
    let change = { (options: inout RunOptions) in
      options.pipelineSource = Self.source("a")
      options.isByHand = isByHand
    }
    func lines() -> [String] {
      let batch = workshop.batch(Selection(), change, clock: .system)
      return batch.outlook(batch.targets(workshop.findings(nil))).change.heldLines
        .filter { $0.contains("counts no more") }
    }
    #expect(workshop.run { $0.pipelineSource = old }.exit == 0)
    #expect(lines().count == 1)
    #expect(workshop.run(Selection(), change).exit == 0)
    #expect(lines().isEmpty == isByHand)
  }

  @Test(
    "A setting that holds is told with all captures that it concerns, and by a repeated run of none"
  )
  func held() throws {
    let workshop = try Workshop()
    try workshop.add("second")
    try workshop.add("flat", color: "blue", depth: nil)
    func lines(_ given: Selection = Selection(), runs: Bool) -> [String] {
      let plain = { (options: inout RunOptions) in
        options.pipelineSource = Self.source("a")
        options.isByHand = true
      }
      let batch = workshop.batch(given, plain, clock: .system)
      let targets = batch.targets(workshop.findings(runs ? ["scan"] : nil))
      let lines = batch.outlook(targets).change.heldLines
      if runs { #expect(workshop.run(given, captures: ["scan"], plain).exit == 0) }
      return lines
    }
    #expect(
      workshop.run {
        $0.pipelineSource = Self.source(
          "a", Workshop.usual, "color.letters=2", "aligned.factor=3")
        $0.isByHand = true
      }.exit == 0)
    let all = [
      "color.letters=2 holds from an earlier run in 3 captures; color.letters=default takes it back"
    ]
    #expect(lines(runs: false).prefix(1) == all[...])
    #expect(lines(runs: true).count == 2)
    #expect(lines(runs: true).isEmpty)
    #expect(lines(runs: false).prefix(1) == all[...])
    #expect(lines(runs: false).last?.contains(" in 2 captures; ") == true)
  }

  @Test(
    "A setting of a stage that has nothing to do for a capture makes nothing of it stale, and the next run tries it"
  )
  func settingOfNothing() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { _ in throw StageDoesNotApply("no color is left") }
    func run(_ source: PipelineSource, _ until: [String] = []) throws -> RunResult {
      var selection = Selection()
      selection.until = until
      workshop.pipeline = try source.definition(.toys)
      return workshop.run(selection) { $0.pipelineSource = source }
    }
    func isStale() throws -> Bool {
      try StatusTests.states(workshop).contains { $0 != "color not-applicable" }
    }
    #expect(try run(Self.source("a")).exit == 0 && !isStale())
    let set = Self.source("a", Workshop.usual, "color.suffix=c", until: ["depth"])
    #expect(try run(set, ["depth"]).exit == 0)
    #expect(try !isStale())
    let asked = try #require(StageExplanation(of: "color", in: StatusTests.status(workshop)))
    #expect(asked.action == .notApplicable && asked.details == ["no color is left"])
    workshop.probe().before("color", nil)
    #expect(workshop.plan().first == "color run never-built")
    #expect(try run(Self.source("a")).exit == 0)
    #expect(workshop.published("color") == "redc")
    // Other files may have something for it.
    workshop.probe().before("color") { _ in throw StageDoesNotApply("no color is left") }
    try workshop.write("blue", to: "color.bin")
    #expect(try run(Self.source("a")).exit == 0 && !isStale())
    try workshop.write("green", to: "color.bin")
    #expect(try StatusTests.states(workshop).first == "color missing never-built")
  }

  @Test("A request that adds nothing is noted without opening a capture, possible or not")
  func noted() throws {
    let workshop = try Workshop()
    try workshop.remove("depth.bin")
    func batch(_ source: PipelineSource) throws -> (BatchRun, [CaptureTarget]) {
      workshop.pipeline = try source.definition(.toys)
      let batch = workshop.batch(
        source.limits ?? Selection(), { $0.pipelineSource = source }, clock: CaptureCacheTests.later
      )
      return (batch, batch.targets(workshop.findings(nil)))
    }
    let asked = [
      Self.source("a"), Self.source("a", until: ["depth"]), Self.source("a", until: ["tables"]),
    ]
    for source in asked {
      let (batch, targets) = try batch(source)
      _ = batch.run(
        targets, declined: [], run: TestRun.id(1), events: EventLog(), cancellation: Cancellation())
    }
    for source in asked + asked.reversed() {
      let (batch, targets) = try batch(source)
      #expect(batch.upToDate(targets).allSatisfy { $0 != nil }, "\(source)")
      let requests = try #require(CaptureCache(of: workshop.layout())?.requests)
      #expect(requests.last == source)
      // The index was made from it: nothing is opened for who asks now.
      #expect(StatusTests.status(workshop).inputs != nil)
    }
    // More than was asked for takes a look into the capture.
    let (more, targets) = try batch(Self.source("a", Workshop.usual, "color.suffix=x"))
    #expect(more.upToDate(targets).allSatisfy { $0 == nil })
  }

  @Test("A stage of an earlier pipeline stands behind what it needs; optional inputs add up")
  func joined() throws {
    let last = try PipelineReader.read(
      "schema: 1\nstages:\n  tables: {uses: toy-tables, optional: [color]}\n  color: {uses: toy-color}",
      file: "last.yaml", registry: .toys)
    let joined = last.joined(to: try Workshop().pipeline)
    let names = joined.stages.map(\.name)
    let place = { (name: String) in names.firstIndex(of: name) ?? -1 }
    #expect(Set(names) == ["color", "tables", "frames", "depth", "aligned"])
    #expect(place("frames") < place("depth") && place("depth") < place("tables"))
    #expect(joined["tables"]?.inputs.count == 3)
  }

  @Test(
    "After any sequence of runs all that was asked for is up to date, and nothing is made twice")
  func sequences() throws {
    var random = SeededGenerator(seed: 43)
    let asked: [PipelineSource] = [
      Self.source("a"), Self.source("a", until: ["depth"]), Self.source("a", until: ["tables"]),
      Self.source("b", Self.colorAlone),
      Self.source("a", Workshop.usual, "depth.letters=3"),
    ]
    for _ in 0..<Rounds.of(10, soak: 40) {
      let workshop = try Workshop()
      for _ in 0..<5 {
        let source = asked[Int.random(in: 0..<asked.count, using: &random)]
        workshop.pipeline = try source.definition(.toys)
        let selection = source.limits ?? Selection()
        let change: (inout RunOptions) -> Void = { $0.pipelineSource = source }
        let before = Set(workshop.folders())
        let result = workshop.run(selection, change)
        #expect(result.report.captures.allSatisfy { $0.outcome.isDone })
        #expect(workshop.plan(selection, change) == [])
        #expect(before.isSubset(of: workshop.folders()))
        let again = workshop.run(selection, change)
        #expect(again.report.captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
      }
    }
  }
}
