@testable import Captures
@testable import Engine
import Foundation
@testable import Pages
@testable import Core
import SystemPackage
import TestSupport
import Testing
import ToyFamily

@Suite(
  "Captures that are one file each are run, moved, told and cleaned like folders", .runsPrograms)
struct ToyPackRunTests {
  private let scene: ToyPackScene

  init() throws { scene = try ToyPackScene() }

  private func row(_ id: String) throws -> CaptureRow {
    try #require(try snapshot().rows.first { $0.id == id })
  }

  private func snapshot() throws -> OutputSnapshot {
    let pipeline = try ToyStages.source.definition(ToyStages.registry)
    return try OutputReader(
      OutputExaminer(
        captures: ToyPackScene.registry, stages: ToyStages.registry, chosen: pipeline,
        standard: pipeline), signature: nil
    ).view(of: scene.output)
  }

  @Test("from the file to pictures; the path that is told is the file")
  func one() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    let report = try scene.run([file])
    #expect(report.exit == 0 && report.captures.map(\.path) == [file.string])
    #expect(try scene.millimeters("a", frame: 2) == ToyPackScene.millimeters(1, 2))
    let document = try #require(
      RecordedDocument(of: OutputLayout(root: scene.output, name: "a")))
    #expect(document.path == file.string)
    let row = try row("a")
    #expect(row.path == file.string && !row.gone)
    // Nothing is done twice.
    let again = try scene.run([file])
    #expect(again.captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
  }

  @Test("several in a folder, beside a folder of the same id, which is the second of its name")
  func several() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    try scene.write(ToyPackScene.pack(2), "a/RAW/packs/all.pack")
    try scene.write(ToyPackScene.pack(3), "b.pack")
    try scene.write(Array("PK\u{3}\u{4}".utf8), "c.bin")
    #expect(try scene.run([scene.input]).exit == 0)
    #expect(scene.results == ["a", "a~2", "b"])
    let values = try ["a", "a~2", "b"].map { try scene.millimeters($0, frame: 0) }
    // Which of the two is the first is decided by the order of their paths.
    #expect(Set(values) == [1000, 2000, 3000] && values.last == 3000)
  }

  @Test("changed bytes make the stages stale that read them; a file beside it does not")
  func changed() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    try scene.write([1], "a.pack.notes")
    #expect(try scene.run([file]).captures.flatMap(\.stages).allSatisfy { $0.outcome != .made })
    try scene.write(ToyPackScene.pack(4), "a.pack")
    let report = try scene.run([file])
    let depth = report.captures.flatMap(\.stages).first { $0.stage == "depth-frames" }
    #expect(depth?.reason == .inputChanged, "\(String(describing: depth))")
    #expect(try scene.millimeters("a", frame: 1) == ToyPackScene.millimeters(4, 1))
  }

  @Test("a file that has moved keeps its results, another one with its id does not get them")
  func moved() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    let other = scene.input.appending("later/a.pack")
    try FileSystem.makeFolder(other.removingLastComponent())
    try file.move(to: other)
    #expect(try scene.run([other]).exit == 0 && scene.results == ["a"])
    let owner = try #require(RecordedLocation(of: OutputLayout(root: scene.output, name: "a")))
    #expect(owner.folder == other.string)
    let second = try scene.write(ToyPackScene.pack(2), "a.pack")
    #expect(try scene.run([second]).exit == 0 && scene.results == ["a", "a~2"])
    #expect(try scene.millimeters("a", frame: 0) == 1000)
  }

  @Test("when the file is gone its results stay, and that it is gone is told")
  func gone() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    #expect(try !row("a").gone)
    try FileSystem.remove(file)
    #expect(try row("a").gone)
    #expect(try scene.millimeters("a", frame: 0) == 1000)
  }

  @Test("damaged beyond recognition it is not gone")
  func damaged() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    try scene.write([0, 1, 2], "a.pack")
    #expect(try !row("a").gone)
  }

  @Test("its page names the file, and its marks are found by the file")
  func page() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    _ = try scene.run([file])
    let layout = OutputLayout(root: scene.output, name: "a")
    var capture = CaptureRow(id: "a", family: "toypack", state: .done)
    capture.path = file.string
    let page = String(
      decoding: try CapturePage.document(
        capture, layout: layout, redaction: nil, families: ToyPackScene.registry), as: UTF8.self)
    #expect(page.contains("a.pack"))
    let record = MarkRecord(
      .ignore, note: nil, until: "", by: "", at: "", id: "a", folder: file.string, stem: nil)
    #expect(record.stamp != nil)
    try scene.write(ToyPackScene.pack(1, frames: 4), "a.pack")
    #expect(
      MarkRecord(
        .ignore, note: nil, until: "", by: "", at: "", id: "a", folder: file.string, stem: nil
      ).stamp != record.stamp)
  }

  @Test("the same file under two names, and named twice, is one capture")
  func twice() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    try FileManager.default.linkItem(
      atPath: file.string, toPath: scene.input.appending("b.pack").string)
    let report = try scene.run([file, scene.input, file])
    #expect(report.captures.count == 1)
  }

  @Test("an output that the file is, or lies where results would go, is refused")
  func overlap() throws {
    let file = try scene.write(ToyPackScene.pack(1), "a.pack")
    let batch = try scene.batch()
    let targets = batch.targets([batch.finder().find(file)])
    #expect(
      OutputOverlap(of: scene.output, with: targets, registry: ToyPackScene.registry) == nil)
    // Beside the file results may lie.
    #expect(
      OutputOverlap(
        of: scene.input.appending("out"), with: targets, registry: ToyPackScene.registry) == nil)
  }
}
