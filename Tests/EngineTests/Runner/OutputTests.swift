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
}
