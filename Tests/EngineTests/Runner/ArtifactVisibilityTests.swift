@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import Testing

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
