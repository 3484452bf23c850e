@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

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
