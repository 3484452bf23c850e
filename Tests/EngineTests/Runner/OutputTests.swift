@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The output folder")
struct OutputTests {
  @Test("artifact.json says what was made from what, and how")
  func record() throws {
    let workshop = try Workshop()
    workshop.probe().before("frames") { $0.warnings.add(.emptyRecord, "depth", count: 2, "empty") }
    #expect(workshop.run().exit == 0)
    let record = try #require(workshop.record("depth"))
    #expect(record.stage == "depth" && record.uses == "toy-depth" && record.version == 1)
    #expect(record.outputs.map(\.path) == ["more/empty.bin", "out.txt"])
    #expect(record.outputs.map(\.bytes) == [0, 13])
    #expect(record.outputDigest == record.outputs.digest)
    #expect(record.parameters["suffix"] == .string(""))
    #expect(record.parameters["letters"] == .null)
    #expect(record.recorded == ["length": .integer(13)])
    #expect(record.inputs.capture == nil)
    #expect(record.inputs.artifacts.keys.sorted() == ["frames"])
    #expect(record.frames == 13 && record.warnings.isEmpty && record.seconds >= 0)
    #expect(record.peakMemoryBytes > 1 << 20)
    #expect(record.started.count == 24 && record.started.hasSuffix("Z"))
    let color = try #require(workshop.record("color"))
    #expect(
      color.inputs.capture
        == CaptureInputs(family: .scannet, readerVersion: 1, files: ["color": [Digest(of: "red")]]))
    #expect(
      try FileSystem.names(in: workshop.layout().artifact("color")) == [
        "artifact.json", "more", "out.txt",
      ])
    let text = try #require(Text.read(workshop.layout().captureDocument))
    #expect(text.contains("\"empty-record\""))
  }

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
