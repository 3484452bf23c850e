import FoundationEssentials
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("Whether an artifact of another machine shows")
struct ArtifactVisibilityTests {
  @Test("Artifacts in their place and removed intermediates are there")
  func there() throws {
    let workshop = try Workshop()
    let report = workshop.run()["scan"]
    let marks = ArtifactMark.all(of: report, in: workshop.layout())
    #expect(marks.map(\.stage) == ["color", "frames", "depth", "aligned", "tables"])
    for mark in marks {
      #expect(ArtifactVisibility.look(workshop.layout(), mark) == .there)
      let text = try JSONText.canonical(mark)
      #expect(try JSONDecoder().decode(ArtifactMark.self, from: Data(text)) == mark)
    }
  }

  @Test("Only stages that ended well have a mark")
  func failed() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { _ in throw FailureTests.Broken() }
    let report = workshop.run()["scan"]
    #expect(
      ArtifactMark.all(of: report, in: workshop.layout()).map(\.stage)
        == ["frames", "depth", "aligned", "tables"])
  }

  /// The parts of an output that show; the first is all of it.
  enum Shown: CaseIterable {
    case all, noOutput, noCapture, noStage, noRecord, cutRecord, older, otherOutput, noFolder, link
  }

  @Test("What does not show yet is told from what is something else", arguments: Shown.allCases)
  func shown(_ shown: Shown) throws {
    let workshop = try RerunTests.done()
    let layout = workshop.layout()
    let record = try #require(workshop.record("color"))
    var mark = ArtifactMark(record)
    switch shown {
    case .all: break
    case .noOutput: try FileSystem.remove(layout.root)
    case .noCapture: try FileSystem.remove(layout.folder)
    case .noStage: try FileSystem.remove(layout.artifact("color"))
    case .noRecord: try FileSystem.remove(layout.record("color"))
    case .cutRecord: try Text.overwrite("{\"schema\":1,", at: layout.record("color"))
    case .older: mark.fingerprint = Digest(of: "newer")
    case .otherOutput: mark.outputDigest = Digest(of: "newer")
    case .noFolder:
      try FileSystem.remove(layout.artifact("color"))
      try Text.write("x", to: layout.artifact("color"))
    case .link:
      try FileSystem.rename(layout.artifact("color"), to: layout.folder.appending("else"))
      #expect(TestLink.make(layout.artifact("color"), to: "else"))
    }
    let found = ArtifactVisibility.look(layout, mark)
    switch shown {
    case .all: #expect(found == .there)
    case .noOutput, .noCapture, .noStage, .noRecord, .cutRecord: #expect(found == .notYet)
    case .older, .otherOutput, .noFolder, .link:
      guard case .other(let why) = found else {
        Issue.record("\(found)")
        return
      }
      #expect(why.contains("color"))
    }
  }
}

@Suite("Stages that could make only a part")
struct PartialArtifactTests {
  private static let problem = "trans.json: not valid JSON"

  @Test("What could be made is published, the stage has failed, and so it has in every run")
  func everyRun() throws {
    let workshop = try Workshop()
    workshop.probe().setProblems([Self.problem], of: "color")
    for run in 0..<3 {
      let result = workshop.run()
      #expect(result.exit == 1)
      #expect(result["scan"].outcome == .failed)
      #expect(result.message("color") == Self.problem)
      #expect(workshop.published("color") == "red")
      #expect(
        result.stages().first
          == (run == 0 ? "color failed never-built" : "color failed outputs-missing"))
      let note = workshop.layout().failureNote("color")
      #expect(Text.read(note)?.contains("not valid JSON") == true)
      #expect(StatusTests.status(workshop).states.first?.state == .failed)
    }
    // Without the note, too.
    try FileSystem.remove(workshop.layout().failed("color"))
    let status = StatusTests.status(workshop).states.first
    #expect(status?.state == .failed && status?.details == Self.problem)
  }

  @Test("Nothing is built from it: required readers are blocked, optional ones do without")
  func readers() throws {
    let workshop = try Workshop()
    workshop.probe().setProblems([Self.problem], of: "frames")
    #expect(
      workshop.run().stages() == [
        "color made never-built", "frames failed never-built", "depth blocked", "aligned blocked",
        "tables made never-built",
      ])
    #expect(workshop.published("tables") == "[color red]")
  }

  @Test("Once everything can be made, the failure is forgotten")
  func mended() throws {
    let workshop = try Workshop()
    workshop.probe().setProblems([Self.problem], of: "color")
    #expect(workshop.run().exit == 1)
    workshop.probe().setProblems([], of: "color")
    let result = workshop.run()
    #expect(result.exit == 0)
    #expect(result.busy().first == "color made outputs-missing")
    #expect(!FileSystem.exists(workshop.layout().failed("color")))
    #expect(workshop.run().busy().isEmpty)
    #expect(try StatusTests.states(workshop).isEmpty)
  }
}

@Suite("File names of pictures")
struct FrameFileNameTests {
  @Test(
    "The index has at least six digits",
    arguments: [
      (0, "000000.png"), (42, "000042.png"), (999_999, "999999.png"), (1_000_000, "1000000.png"),
    ])
  func names(_ frame: Int, _ name: String) {
    #expect(FrameFileName.name(frame) == name)
    #expect(FrameFileName.frame(name) == frame)
  }

  @Test(
    "Other files are no pictures",
    arguments: ["artifact.json", "store.json", "12a.png", "000001", "-00001.png"])
  func others(_ name: String) {
    #expect(FrameFileName.frame(name) == nil)
  }

  @Test("Pictures of an artifact are found by frame, PNG or JPEG, and nothing else is one")
  func pictures() throws {
    var situation = try Situation()
    try situation.publish("color")
    var record = try #require(situation.facts["color"]?.published?.record)
    record.outputs = [
      "000000.png", "000002.jpg", "1000000.png", "000003.ply", "mask/000004.png", "sheet.png",
    ].map { OutputEntry(path: $0, bytes: 1, sha256: Digest(of: $0)) }
    #expect(
      FrameFileName.pictures(in: record).mapValues(\.path) == [
        0: "000000.png", 2: "000002.jpg", 1_000_000: "1000000.png",
      ])
  }
}
