@testable import Captures
@testable import Engine
import StageSupport
@testable import Core
import Testing

/// A situation and what is planned in it. Jobs that are up to date are not listed.
struct PlannerCase: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var selection = Selection()
  var change: @Sendable (inout Situation) throws -> Void = { _ in }
  var jobs: [String]

  init(
    _ testDescription: String, _ selection: Selection = Selection(), jobs: [String],
    _ change: @escaping @Sendable (inout Situation) throws -> Void = { _ in }
  ) {
    self.testDescription = testDescription
    self.selection = selection
    self.change = change
    self.jobs = jobs
  }
}

@Suite("The planner")
struct PlannerTests {
  @Test("What changed runs, and what reads it is planned to", arguments: changes)
  func change(example: PlannerCase) throws {
    try check(example)
  }

  @Test("Options narrow down and force", arguments: options)
  func option(example: PlannerCase) throws {
    try check(example)
  }

  @Test(
    "Intermediates that were removed come back only when something needs them", arguments: removed)
  func removedIntermediate(example: PlannerCase) throws {
    try check(example)
  }

  @Test("What a capture lacks is not applicable, what needs it neither", arguments: lacking)
  func inapplicable(example: PlannerCase) throws {
    try check(example)
  }

  /// What becomes of what a result was made from, and whether it stays where its stage has nothing left to do.
  static let kept: [(change: @Sendable (inout Situation) throws -> Void, stays: Bool)] = [
    ({ _ in }, true), ({ try $0.publish("frames", content: "other") }, false),
    ({ $0.change("frames") }, false),
  ]

  @Test(
    "What a stage made that has nothing left to do stays as long as what it was made from",
    arguments: kept.indices)
  func nothingLeft(index: Int) throws {
    var situation = try Situation()
    try Self.kept[index].change(&situation)
    situation.facts["depth"]?.applicability = .nothingLeft(
      CaptureWarning(.nothingLeft, "depth", count: 1, "no pixel is left"))
    let job = try #require(situation.jobs().first { $0.stage == "depth" })
    #expect(job.action == .notApplicable)
    #expect(job.isKept == Self.kept[index].stays)
    #expect((job.removed == nil) == Self.kept[index].stays)
  }

  @Test("Those that read a stage are the selected ones that are connected to it")
  func readers() throws {
    let pipeline = try Situation().pipeline
    #expect(Planner(pipeline).readers(of: "frames") == ["export-depth", "align"])
    #expect(Planner(pipeline, selection: .only("aligned")).readers(of: "frames") == ["align"])
  }

  private func check(_ example: PlannerCase) throws {
    var situation = try Situation()
    try example.change(&situation)
    #expect(situation.plan(example.selection) == example.jobs)
  }

  static let changes: [PlannerCase] = [
    PlannerCase("nothing changed: nothing runs", jobs: []),
    PlannerCase(
      "nothing is built: everything runs for the first time",
      jobs: [
        "color run never-built", "frames run never-built", "depth run never-built",
        "aligned run never-built", "tables run never-built",
      ]
    ) { $0.clear() },
    PlannerCase(
      "a changed parameter reruns the stage and plans its dependents",
      jobs: [
        "frames run parameters", "depth run parameters", "aligned run input-rebuilt",
        "tables run input-rebuilt",
      ]
    ) { try $0.set("depth.range=1..2m") },
    PlannerCase(
      "a parameter of a last stage reruns that stage only",
      jobs: ["color run parameters", "tables run input-rebuilt"]
    ) { try $0.set("color.every=2") },
    PlannerCase("a parameter set to the value it had changes nothing", jobs: []) {
      try $0.set("color.every=1")
      try $0.set("frames.scale=1.0")
    },
    PlannerCase(
      "a changed file of the capture reruns who reads it",
      jobs: ["color run input-changed", "tables run input-rebuilt"]
    ) { $0.change("color") },
    PlannerCase(
      "a new version of the reader reruns who reads the capture",
      jobs: ["color run input-changed", "tables run input-rebuilt"]
    ) { $0.facts["color"]?.captureInputs?.readerVersion = 2 },
    PlannerCase(
      "a changed file that a parameter names reruns the stage",
      jobs: ["aligned run input-changed", "tables run input-rebuilt"]
    ) { $0.facts["aligned"]?.external = ["calibration": Digest(of: "new")] },
    PlannerCase("a missing output rebuilds the stage", jobs: ["tables run outputs-missing"]) {
      $0.state("tables", .missing(["frames.csv"]))
    },
    PlannerCase(
      "an altered output rebuilds the stage",
      jobs: ["depth run outputs-altered", "tables run input-rebuilt"]
    ) { $0.state("depth", .altered(["000000.png"])) },
    PlannerCase(
      "an input that was rebuilt since reruns those who read the old one",
      jobs: ["tables run input-rebuilt"]
    ) { try $0.publish("color", content: "other") },
    PlannerCase("a side file beside what is read changes nobody's input", jobs: []) {
      try $0.publish(
        "color", beside: [OutputEntry(path: "measures.csv", bytes: 1, sha256: Digest(of: "x"))])
    },
    PlannerCase("an input that was rebuilt with the same output reruns nobody", jobs: []) {
      try $0.publish("color")
    },
    PlannerCase(
      "an input that is no longer connected reruns the stage", jobs: ["tables run input-rebuilt"]
    ) { situation in
      let index = try #require(situation.pipeline.stages.firstIndex { $0.name == "tables" })
      situation.pipeline.stages[index].inputs.removeAll { $0.port == "color" }
    },
    PlannerCase(
      "another kind of stage under the same name reruns it",
      jobs: ["color run stage-version", "tables run input-rebuilt"]
    ) { situation in
      let index = try #require(situation.pipeline.stages.firstIndex { $0.name == "color" })
      situation.pipeline.stages[index].kind = Pass.self
      situation.pipeline.stages[index].parameters = ParameterValues(defaultsOf: Pass.parameters)
    },
    PlannerCase(
      "a stage that nothing is known of is blocked, with those behind it",
      jobs: ["frames blocked", "depth blocked", "aligned blocked", "tables run input-rebuilt"]
    ) { $0.facts["frames"] = nil },
    PlannerCase(
      "what is unreadable is planned to run, and will say why",
      jobs: ["color run input-changed", "tables run input-rebuilt"]
    ) {
      $0.facts["color"]?.applicability = .unreadable("x")
      $0.facts["color"]?.captureInputs = nil
    },
  ]

  static let options: [PlannerCase] = [
    PlannerCase(
      "-R runs the stage and plans its dependents", .forced("color"),
      jobs: ["color run forced", "tables run input-rebuilt"]),
    PlannerCase(
      "-R of a stage runs its inner steps too", .forced("depth"),
      jobs: [
        "frames run forced", "depth run forced", "aligned run input-rebuilt",
        "tables run input-rebuilt",
      ]),
    PlannerCase(
      "-F runs everything", .all,
      jobs: [
        "color run forced", "frames run forced", "depth run forced", "aligned run forced",
        "tables run forced",
      ]),
    PlannerCase(
      "-F with --only forces that stage only", .all.only("tables"),
      jobs: ["tables run forced"]),
    PlannerCase(
      "-R of another stage than --only forces nothing", .forced("color").only("tables"),
      jobs: []),
    PlannerCase(
      "--only runs the stage, and tables that are there and name its files", .only("color"),
      jobs: ["color run parameters", "tables run input-rebuilt"]
    ) {
      try $0.set("color.every=2")
      $0.change("frames")
    },
    PlannerCase(
      "--only runs exactly the stage where no tables are there", .only("color"),
      jobs: ["color run parameters"]
    ) {
      try $0.set("color.every=2")
      $0.facts["tables"]?.published = nil
    },
    PlannerCase("--only leaves tables alone whose files stay", .only("color"), jobs: []) {
      $0.change("frames")
    },
    PlannerCase(
      "--only of a stage whose pictures are to be removed", .only("color"),
      jobs: ["color not-applicable", "tables run input-rebuilt"]
    ) { $0.facts["color"]?.applicability = .notApplicable("no color here") },
    PlannerCase(
      "--only includes the inner steps of the stage", .only("depth"),
      jobs: ["frames run input-changed", "depth run input-rebuilt", "tables run input-rebuilt"]
    ) { $0.change("frames") },
    PlannerCase(
      "--only with an input that is not up to date is blocked", .only("aligned"),
      jobs: ["aligned blocked"]
    ) { $0.change("frames") },
    PlannerCase(
      "--only with an input that was never built is blocked", .only("aligned"),
      jobs: ["aligned blocked"]
    ) { $0.clear() },
    PlannerCase(
      "--only takes an optional input as it is, up to date or not", .only("tables"),
      jobs: []
    ) { $0.change("color") },
    PlannerCase(
      "--only without any of the optional inputs runs", .only("tables"),
      jobs: ["tables run never-built"]
    ) { $0.clear() },
    PlannerCase("--only with a blocked optional input takes it as it is", .only("tables"), jobs: [])
    {
      $0.facts["frames"] = nil
    },
    PlannerCase(
      "--until runs the stage and what it needs", .until("depth"),
      jobs: ["frames run never-built", "depth run never-built"]
    ) { $0.clear() },
  ]

  static let removed: [PlannerCase] = [
    PlannerCase("removed and up to date: nothing runs", jobs: []) { $0.state("frames", .removed) },
    PlannerCase(
      "a reader must run: the intermediate is built first",
      jobs: [
        "frames run outputs-missing", "aligned run outputs-missing", "tables run input-rebuilt",
      ]
    ) {
      $0.state("frames", .removed)
      $0.state("aligned", .missing(["x"]))
    },
    PlannerCase(
      "also under --only of the reader", .only("aligned"),
      jobs: [
        "frames run outputs-missing", "aligned run outputs-missing", "tables run input-rebuilt",
      ]
    ) {
      $0.state("frames", .removed)
      $0.state("aligned", .missing(["x"]))
    },
    PlannerCase(
      "a forced reader needs it too", .forced("aligned"),
      jobs: ["frames run outputs-missing", "aligned run forced", "tables run input-rebuilt"]
    ) { $0.state("frames", .removed) },
    PlannerCase(
      "removed and stale: it runs for its own reason",
      jobs: [
        "frames run parameters", "depth run parameters", "aligned run input-rebuilt",
        "tables run input-rebuilt",
      ]
    ) {
      $0.state("frames", .removed)
      try $0.set("depth.range=1..2m")
    },
    PlannerCase(
      "removed and stale: made for a reader that must run and could do without it", .only("tables"),
      jobs: ["color run input-changed", "tables run outputs-missing"]
    ) {
      $0.change("color")
      $0.state("color", .removed)
      $0.state("tables", .missing(["x"]))
    },
    PlannerCase(
      "removed and stale: its reader is blocked under --only", .only("aligned"),
      jobs: ["aligned blocked"]
    ) {
      $0.state("frames", .removed)
      try $0.set("depth.range=1..2m")
    },
  ]

  static let lacking: [PlannerCase] = [
    PlannerCase(
      "no depth: color and tables are done alone",
      jobs: [
        "frames not-applicable", "depth not-applicable", "aligned not-applicable",
        "tables run input-rebuilt",
      ]
    ) { $0.doesNotApply("frames", "depth", "aligned") },
    PlannerCase(
      "what needs an inapplicable stage does not apply either",
      jobs: [
        "frames not-applicable", "depth not-applicable", "aligned not-applicable",
        "tables run input-rebuilt",
      ]
    ) { $0.doesNotApply("frames") },
    PlannerCase(
      "forcing does not make a stage apply", .all.only("color"),
      jobs: ["color not-applicable"]
    ) { $0.doesNotApply("color") },
  ]
}
