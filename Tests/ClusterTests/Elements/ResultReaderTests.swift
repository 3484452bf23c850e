@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Cluster

@Suite("Results of elements, read while they are written")
struct ResultReaderTests {
  private let folder: TemporaryFolder
  private let files: RunFiles

  init() throws {
    folder = try TemporaryFolder()
    files = RunFiles(run: folder.path.appending("run"))
    _ = try HeldFolder.making(following: files.results)
  }

  private static let lines: [ArrayTaskLine] = [
    .begin(ArrayTaskBegin(element: 3, job: "7_3", host: "node1", cores: 2, memoryBytes: 1 << 30)),
    .event(RunEvent(kind: .captureStarted, time: "2026-11-22T10:00:00.000Z", capture: "a")),
    .capture(
      CaptureLine(
        name: "a",
        outcome: CaptureOutcome(
          CaptureReport(id: "a", path: "/in/a", family: "scannet", outcome: .made)),
        peakMemoryBytes: 5, seconds: 1.5, artifacts: [])),
    .end(ArrayTaskEnd(way: .outOfTime, left: ["b"], message: "late")),
  ]

  private func bytes() throws -> [UInt8] {
    try Self.lines.flatMap { try JSONText.canonical($0) + [UInt8(ascii: "\n")] }
  }

  private static func word(_ line: ArrayTaskLine) -> String {
    switch line {
    case .begin(let begin): "begin \(begin.job)"
    case .event(let event): "event \(event.kind.rawValue)"
    case .capture(let line): "capture \(line.name) \(line.outcome.report.outcome.rawValue)"
    case .end(let end): "end \(end.way.rawValue)"
    }
  }

  @Test("Cut at every byte, whole lines are read, the rest when it has come, nothing twice")
  func everyCut() throws {
    let all = try bytes()
    let results = try HeldFolder.following(files.results)
    for cut in 0...all.count {
      let name = RunFiles.resultsName(3, job: "7_\(cut)")
      try results.replace(name, with: Array(all[..<cut]), durably: false)
      let reader = ResultReader(files)
      let first = reader.read { _ in true }.map(\.line)
      #expect(first.count == all[..<cut].count { $0 == UInt8(ascii: "\n") })
      // Appended in place, as an element does.
      let file = try results.append(to: name)
      try file.writeAll(all[cut...])
      try file.close()
      let rest = reader.read { _ in true }.map(\.line)
      #expect(
        (first + rest).map(Self.word) == [
          "begin 7_3", "event capture-started", "capture a made", "end out-of-time",
        ])
      #expect(reader.read { _ in true }.isEmpty)
      try results.remove(name)
    }
  }

  @Test(
    "Only files of wanted elements are opened; other names, and lines that are none, say nothing")
  func others() throws {
    let results = try HeldFolder.following(files.results)
    let all = try bytes()
    try results.replace(RunFiles.resultsName(3, job: "7_3"), with: all)
    try results.replace(
      RunFiles.resultsName(4, job: "7_4"), with: Array("{\"x\":1}\nno\n".utf8) + all)
    try results.replace("notes.txt", with: all)
    let reader = ResultReader(files)
    #expect(reader.read { $0 == 5 }.isEmpty)
    let found = reader.read { $0 == 4 }
    #expect(found.count == Self.lines.count)
    #expect(found.allSatisfy { $0.element == 4 })
  }

  @Test("A line is a map with one key")
  func form() throws {
    let text = String(decoding: try bytes(), as: UTF8.self)
    let keys = text.split(separator: "\n").map { $0.prefix { $0 != ":" } }
    #expect(keys == ["{\"begin\"", "{\"event\"", "{\"capture\"", "{\"end\""])
  }

  @Test("Without the folder there is nothing yet")
  func absent() throws {
    #expect(ResultReader(RunFiles(run: folder.path.appending("none"))).read { _ in true }.isEmpty)
  }
}
