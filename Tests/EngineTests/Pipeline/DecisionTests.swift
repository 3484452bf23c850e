import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Reasons")
struct DecisionTests {
  /// Every change that has a reason of its own, in the order in which they win.
  static let changes: [(Reason, @Sendable (inout Situation) throws -> Void)] = [
    (.neverBuilt, { $0.facts["aligned"]?.published = nil }),
    (.outputsMissing, { $0.state("aligned", .missing(["a"])) }),
    (.outputsAltered, { $0.state("aligned", .altered(["a"])) }),
    (.stageVersion, { $0.facts["aligned"]?.published?.record.version = 0 }),
    (.parameters, { $0.facts["aligned"]?.published?.record.parameters["strength"] = .integer(3) }),
    (.inputChanged, { $0.facts["aligned"]?.external = ["calibration": Digest(of: "new")] }),
    (.inputRebuilt, { try $0.publish("frames", content: "new") }),
  ]

  static func decide(_ situation: Situation, _ selection: Selection = Selection()) throws
    -> PlannedJob
  {
    try #require(situation.jobs(selection).first { $0.stage == "aligned" })
  }

  static func situation() throws -> Situation {
    var situation = try Situation()
    let index = try #require(situation.pipeline.stages.firstIndex { $0.name == "aligned" })
    situation.pipeline.stages[index].parameters = ParameterValues(defaultsOf: [
      Parameter("strength", .integer(0...9), default: 2, "").description
    ])
    try situation.publish("aligned")
    return situation
  }

  @Test("Of several reasons the first in the order of the contract is given")
  func precedence() throws {
    #expect(
      Reason.allCases.map(\.rawValue) == [
        "forced", "never-built", "outputs-missing", "outputs-altered", "stage-version",
        "parameters",
        "input-changed", "input-rebuilt",
      ])
    // `missing` and `altered` exclude each other: the later one of a pair is applied first.
    for (first, winner) in Self.changes.enumerated() {
      for loser in Self.changes[(first + 1)...] {
        var situation = try Self.situation()
        try loser.1(&situation)
        try winner.1(&situation)
        #expect(try Self.decide(situation).reason == winner.0)
        #expect(try Self.decide(situation, .forced("aligned")).reason == .forced)
      }
    }
  }

  @Test("A job states old and new values")
  func details() throws {
    var situation = try Self.situation()
    situation.facts["aligned"]?.published?.record.parameters["strength"] = .null
    #expect(try Self.decide(situation).details == ["strength: default -> 2"])

    situation = try Self.situation()
    situation.facts["aligned"]?.external = ["calibration": Digest(of: "new")]
    #expect(
      try Self.decide(situation).details == [
        "calibration: none -> \(Digest(of: "new").hex.prefix(12))"
      ])

    situation = try Self.situation()
    situation.facts["aligned"]?.published?.record.version = 0
    #expect(try Self.decide(situation).details == ["align 0 -> align 1"])

    situation = try Self.situation()
    situation.state("aligned", .missing(["a", "b", "c", "d", "e"]))
    #expect(try Self.decide(situation).details == ["a", "b", "c", "and 2 more"])

    situation = try Self.situation()
    let old = situation.facts["frames"]?.published?.record.outputDigest.hex.prefix(12) ?? ""
    try situation.publish("frames", content: "new")
    let new = situation.facts["frames"]?.published?.record.outputDigest.hex.prefix(12) ?? ""
    #expect(try Self.decide(situation).details == ["frames: \(old) -> \(new)"])

    situation = try Self.situation()
    situation.change("frames")
    #expect(try Self.decide(situation).details == ["frames: will be rebuilt first"])
  }

  @Test("A record whose fingerprint does not match its content is not trusted")
  func unsound() throws {
    var situation = try Self.situation()
    situation.facts["aligned"]?.published?.record.fingerprint = Digest(of: "something else")
    let job = try Self.decide(situation)
    #expect(job.reason == .outputsAltered && job.details == ["artifact.json"])
  }

  @Test("A parameter that the stage has no more is a change")
  func lostParameter() throws {
    var situation = try Self.situation()
    situation.facts["aligned"]?.published?.record.parameters["gone"] = .integer(1)
    #expect(try Self.decide(situation).details == ["gone: 1 -> default"])
    // One that was never set is told of only where there is nothing else.
    situation.facts["aligned"]?.published?.record.parameters["gone"] = .null
    #expect(try Self.decide(situation).details == ["gone: default -> default"])
    situation.facts["aligned"]?.published?.record.parameters["strength"] = .integer(3)
    #expect(try Self.decide(situation).details == ["strength: 3 -> 2"])
  }

  @Test("A changed capture names reader, parts and digests")
  func captureDetails() throws {
    var situation = try Situation()
    situation.facts["color"]?.captureInputs = CaptureInputs(
      family: .strabo, readerVersion: 4, files: ["poses": [Digest(of: "a"), Digest(of: "b")]])
    let job = try #require(situation.jobs().first { $0.stage == "color" })
    let short = { (text: String) in String(Digest(of: text).hex.prefix(12)) }
    #expect(
      job.details == [
        "reader: scannet 1 -> strabo 4", "color: \(short("color of the capture")) -> none",
        "poses: none -> \(short("a"))+\(short("b"))",
      ])
  }

  @Test("An optional input that went away, and one that came, are changes")
  func optional() throws {
    var situation = try Situation()
    situation.doesNotApply("color")
    #expect(
      situation.jobs().first { $0.stage == "tables" }?.details == [
        "color: there before, absent now"
      ])
    try situation.publish("tables")
    #expect(situation.jobs().first { $0.stage == "tables" }?.action == .upToDate)
    situation.facts["color"]?.applicability = .applies
    try situation.publish("color")
    let short = situation.facts["color"]?.published?.record.outputDigest.hex.prefix(12) ?? ""
    #expect(
      situation.jobs().first { $0.stage == "tables" }?.details == ["color: none -> \(short)"])
  }
}

@Suite("Selections that can do nothing")
struct SelectionTests {
  private static func pipeline() throws -> PipelineDefinition {
    func stage(_ name: String, _ inputs: [String] = [], partOf: String? = nil) -> StageDefinition {
      StageDefinition(
        name: name, kind: MakeColor.self, parameters: ParameterValues(defaultsOf: []),
        inputs: inputs.map { PortBinding(port: $0, stage: $0, isOptional: false) }, partOf: partOf)
    }
    return PipelineDefinition(
      name: "p",
      stages: [
        stage("color"), stage("frames", partOf: "depth"), stage("depth", ["frames"]),
        stage("imu"),
      ])
  }

  @Test("Limits that select nothing are all reported; so is a forced stage outside them")
  func problems() throws {
    let pipeline = try Self.pipeline()
    var selection = Selection()
    #expect(selection.problem(in: pipeline) == nil)
    selection.only = ["color"]
    selection.until = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "no stage is left by --only color and --until imu together"
    )
    selection.until = []
    selection.forced = ["imu"]
    #expect(
      selection.problem(in: pipeline) == "-R imu is outside of what --only color selects")
    selection.only = ["depth"]
    selection.forced = ["frames", "depth"]
    #expect(selection.problem(in: pipeline) == nil)
  }

  @Test("Several stages of one option are united, those of several options are what all have")
  func several() throws {
    let pipeline = try Self.pipeline()
    var selection = Selection()
    selection.only = ["depth", "imu"]
    #expect(selection.stages(of: pipeline) == ["frames", "depth", "imu"])
    #expect(selection.limitWords == ["--only depth,imu"])
    selection.until = ["color", "imu"]
    #expect(selection.stages(of: pipeline) == ["imu"])
    #expect(selection.limitWords == ["--only depth,imu", "--until color,imu"])
    selection.only = []
    #expect(selection.stages(of: pipeline) == ["color", "imu"])
    #expect(selection.limits == selection)
  }

  @Test(
    "A name with a number names the capture that had it first",
    arguments: [
      ("room~2", "room"), ("room~12", "room"), ("room~1", nil), ("room", nil), ("room~x", nil),
      ("room~02", nil),
    ] as [(String, String?)])
  func twins(folder: String, twin: String?) {
    #expect(OutputName.twin(of: folder) == twin)
  }

  @Test("Several stages after --until are done with all that each needs")
  func until() throws {
    var selection = Selection()
    selection.until = ["depth", "imu"]
    #expect(selection.stages(of: try Self.pipeline()) == ["frames", "depth", "imu"])
  }
}

@Suite("The plan of a capture")
struct PlanTests {
  @Test("It names where the capture lies and its family, also of one that cannot be opened")
  func whose() throws {
    let workshop = try Workshop()
    try workshop.add("broken", id: "unopenable")
    try workshop.add("other", id: "lab 101")
    let batch = workshop.batch(Selection(), { _ in }, clock: .system)
    let plans = batch.plan(batch.targets(workshop.findings(nil)))
    #expect(plans.map(\.id) == ["unopenable", "lab-101", "scan"])
    #expect(
      plans.map(\.path) == ["broken", "other", "scan"].map { workshop.capture($0).string })
    #expect(plans.map(\.family) == Array(repeating: "scannet", count: 3))
    #expect(plans.map { $0.error != nil } == [true, false, false])
  }
}
