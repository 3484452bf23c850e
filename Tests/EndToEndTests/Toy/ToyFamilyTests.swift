@testable import Captures
@testable import Media
import Foundation
@testable import Core
import Logging
@testable import Engine
@testable import Pages
@testable import Stages
import SystemPackage
import TestSupport
import Testing
import ToyFamily
@testable import Watch

/// What a sixth family needs: a reader in a registry, and nothing else.
@Suite("A family that is only in the registry of this test", .runsPrograms)
struct ToyFamilyTests {
  /// What nobody listens to.
  private struct Silence: EventSink {
    func send(_ event: RunEvent) {}
  }

  @Test("goes from its files to pictures, tables, aligned depth, an export and a page")
  func run() throws {
    let scene = try ToyScene()
    let batch = try ToyScene.batch(into: scene.output)
    let finding = CaptureFinder(ToyScene.registry).find(scene.input)
    #expect(finding.captures.map(\.family) == [.toy])
    let report = batch.run(
      batch.targets([finding]), declined: [], run: RunID.new().text, events: Silence(),
      cancellation: Cancellation())
    #expect(report.exit == 0, "\(report.captures.flatMap(\.stages))")
    let layout = OutputLayout(root: scene.output, name: "toy-1")
    try check(layout)
    try checkPage(layout)
  }

  @Test("is watched for")
  func watch() throws {
    let scene = try ToyScene()
    #expect(
      try ToyScene.watch(PathSafety.resolve(scene.input), into: scene.output) == 0)
    try check(OutputLayout(root: scene.output, name: "toy-1"))
  }

  private func check(_ layout: OutputLayout) throws {
    let names = { (stage: String) in
      try FileSystem.names(in: layout.artifact(stage))
    }
    let pictures = (0..<ToyScene.frames).map { FrameFileName.name($0) }
    #expect(try names("color").filter { $0.hasSuffix(".png") } == pictures)
    for stage in ["depth", "aligned"] {
      let frame = ToyScene.frames - 1
      let path = layout.artifact(stage).appending(FrameFileName.name(frame))
      let image = try PNGReader.depth(at: path)
      #expect(image.width == (stage == "depth" ? ToyScene.depthSize : ToyScene.colorSize).width)
      let middle = image.millimeters[image.width * (image.height / 2) + image.width / 2]
      #expect(middle == ToyScene.millimeters(frame), "\(stage)")
    }
    let tables = try names("tables")
    #expect(tables.contains("frames.csv") && tables.contains("poses.csv"), "\(tables)")
    let rows = try layout.artifact("tables").appending("frames.csv").text()
    #expect(rows.lines.count == ToyScene.frames + 1)
    #expect(try names("imu").contains("imu.csv"))
    let sens = layout.artifact("export-sens").appending("toy-1.sens")
    let bytes = [UInt8](try sens.data())
    // The version, the length of the sensor's name, the name.
    #expect(String(decoding: bytes[12..<12 + Int(bytes[4])], as: UTF8.self) == "ToySensor")
    let document = try layout.folder.appending("capture.json").data()
    #expect(String(decoding: document, as: UTF8.self).contains("\"toy\""))
  }

  /// Three usual steps are a gap to every other family, and none to this one.
  private func checkPage(_ layout: OutputLayout) throws {
    let capture = CaptureRow(id: "toy-1", family: "toy", state: .done)
    func page(_ families: CaptureRegistry) throws -> String {
      String(
        decoding: try CapturePage.document(
          capture, layout: layout, redaction: nil, families: families), as: UTF8.self)
    }
    let own = try page(ToyScene.registry)
    #expect(own.contains("toy-1"))
    #expect(try own != page(.builtIn))
  }
}
