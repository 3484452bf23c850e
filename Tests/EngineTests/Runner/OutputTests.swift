@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The output folder")
struct OutputTests {

  @Test("capture.json is there before the first stage, and keeps the warnings of all stages")
  func captureDocument() throws {
    let workshop = try Workshop()
    workshop.probe().before("color") { context in
      guard FileSystem.exists(OutputLayout.folder(above: context).appending("capture.json")) else {
        throw FailureTests.Broken()
      }
    }
    workshop.probe().before("frames") { $0.warnings.add(.emptyRecord, "depth", "empty") }
    #expect(workshop.run().exit == 0)
    let text = Text.read(workshop.layout().captureDocument)
    #expect(text?.contains("empty-record") == true)
    #expect(workshop.run(.only("color")).exit == 0)
    #expect(Text.read(workshop.layout().captureDocument) == text)
    #expect(workshop.run(.forced("color").only("color")).exit == 0)
    #expect(Text.read(workshop.layout().captureDocument) == text)
  }

  @Test(
    "A capture.json that the disk has torn is written anew", arguments: ["", "\0\0", "cut", "flip"])
  func tornDocument(damage: String) throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    let place = workshop.layout().captureDocument
    let text = try #require(Text.read(place))
    let damaged =
      switch damage {
      case "cut": String(text.prefix(text.count / 2))
      case "flip": text.replacing(":", with: "+", maxReplacements: 1)
      default: damage
      }
    try Text.write(damaged, to: place)
    #expect(workshop.run().exit == 0)
    #expect(Text.read(place) == text)
  }
}
