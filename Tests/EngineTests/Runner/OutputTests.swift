@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The output folder")
struct OutputTests {
  @Test(
    "A capture's id becomes a folder name",
    arguments: [
      ("scan-1_a.b+c@d", "scan-1_a.b+c@d"), ("a b/c", "a-b-c"), ("..", "_.."), (".", "_."),
      ("", "_"), ("runs", "_runs"), ("runs2", "runs2"), ("...", "_..."), ("a~2", "a-2"),
      ("Küche", "Küche"), ("\u{212A}", "K"), ("e\u{301}", "\u{E9}"), ("a\r\nb", "a--b"),
      ("a\0b", "a-b"), ("../../etc", "_..-..-etc"), (".hidden", "_.hidden"), ("日本", "日本"),
    ])
  func folderName(id: String, name: String) {
    #expect(OutputLayout.folderName(forID: id) == name)
  }

  @Test("Equal ids of one run get ~2, ~3 in path order; one capture named twice is one")
  func collisions() throws {
    let workshop = try Workshop()
    try workshop.add("b", id: "x y")
    try workshop.add("a", id: "x y")
    try workshop.add("c", id: "x-y")
    let result = workshop.run(captures: ["c", "b", "a", "b", "scan"])
    #expect(result.report.captures.map(\.id) == ["x-y", "x-y~2", "x-y~3", "scan"])
    #expect(
      result.report.captures.map { FilePath($0.path).lastComponent?.string } == [
        "a", "b", "c", "scan",
      ])
    #expect(
      try FileSystem.names(in: workshop.output) == [
        ".scanmill", "runs", "scan", "x-y", "x-y~2", "x-y~3",
      ])
    let document = try JSONDecoder().decode(
      [String: JSONValue].self,
      from: Data(contentsOf: URL(filePath: workshop.layout("x-y").captureDocument.string)))
    #expect(document["id"] == .string("x y"))
  }

  @Test("An output folder that is a link works like the folder")
  func symlinked() throws {
    let workshop = try Workshop()
    let real = workshop.folder.path.appending("real")
    try FileSystem.makeFolder(real)
    #expect(TestLink.make(workshop.output, to: real))
    #expect(workshop.run().exit == 0)
    #expect(workshop.run().busy() == [])
    #expect(FileSystem.isLink(workshop.output))
    #expect(FileSystem.exists(real.appending("scan/color/artifact.json")))
  }

  @Test("An output that cannot be written is 73 and names the path")
  func notWritable() throws {
    let workshop = try Workshop()
    workshop.output = "/sys/scanmill-output"
    let result = workshop.run()
    #expect(result.exit == ExitStatus.cannotWrite)
    #expect(result["scan"].outcome == .failed)
    #expect(result["scan"].why.message?.hasPrefix("/sys/scanmill-output") == true)
  }

  @Test("A file where the output should be is 73 too")
  func fileInTheWay() throws {
    let workshop = try Workshop()
    try Text.write("", to: workshop.output)
    #expect(workshop.run().exit == ExitStatus.cannotWrite)
  }

  @Test(
    "A full disk while a stage writes is 73, and says what to do and what a run says it needs; the rest goes on"
  )
  func full() throws {
    let workshop = try Workshop()
    try workshop.add("other", color: String(repeating: "red", count: 1000))
    #expect(workshop.run(captures: ["other"]).exit == 0)
    workshop.probe().before("color") { context in
      let place = context.staging.path
      StorageFaults.set(below: place) { step, _ in step == .write ? .noSpace : nil }
    }
    let result = workshop.run(captures: ["scan"])
    StorageFaults.set(below: workshop.layout().staging("color", attempt: TestRun.id(2)), nil)
    #expect(result.exit == ExitStatus.cannotWrite)
    var needs = RunNeeds(workshop.pipeline, root: workshop.output)
    needs.add(
      try #require(workshop.findings(["scan"])[0].captures.first),
      [try #require(workshop.pipeline["color"])])
    // Of the other capture's results it is known what all stages wrote per byte.
    #expect(needs.knownBytes("scannet", ofBytes: 1000) > 0)
    #expect(needs.knownBytes("strabo", ofBytes: 1000) == 0)
    let line = try #require(needs.line)
    let told = try #require(
      result.message("color").firstMatch(of: #/about (.*) are needed in all/#))
    #expect(line.hasPrefix("needs about \(told.1) ("))
    #expect(result.message("color").contains("; 0 bytes were written by then"))
    #expect(result.message("color").contains("(free some space"))
    #expect(workshop.published("depth") == "[frames deep]")
    workshop.probe().before("color", nil)
    #expect(workshop.run().exit == 0)
  }

  @Test("What a killed run left in staging is swept by the next")
  func leftovers() throws {
    let workshop = try RerunTests.done()
    try Text.write(
      "half", to: workshop.layout().staging("color", attempt: TestRun.id(0)).appending("out.txt"))
    try Text.write(
      "{",
      to: workshop.layout().folder.appending(".capture.json.\(ProcessHome.current)-2000000000.new"))
    #expect(workshop.run().busy() == [])
    #expect(workshop.folders() == ["aligned", "capture.json", "color", "depth", "tables"])
  }

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
