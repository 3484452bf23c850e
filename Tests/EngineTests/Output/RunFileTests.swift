import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What is read of a run's journal")
struct RunFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ bytes: [UInt8], _ name: String) throws -> FilePath {
    let run = OutputLayout.run("R", in: folder.path)
    try FileSystem.makeFolder(run)
    try OutputFile.write(bytes, to: run.appending(name))
    return run.appending(name)
  }

  @Test(
    "What a run writes is read back, with the captures; who ran it only where all of it is there")
  func writtenAndRead() throws {
    var report = RunReport(run: "R")
    report.captures = [
      CaptureReport(
        id: "a", path: "/in/a", family: "scannet", outcome: .failed, why: Failure(message: "m"))
    ]
    let program = ProgramIdentity(version: "1", commit: nil, libraries: [:])
    let context = RunContext(
      program: program,
      host: RunContext.Host(name: "lab", os: "o", cpu: "c", cores: 2, memoryBytes: 3),
      user: "u", commandLine: ["run"], pipeline: "default", path: nil, text: "p")
    let record = RunRecord(
      report: report, context: context, started: "s", finished: nil, seconds: 1)
    _ = try write(JSONText.pretty(record), OutputNames.run)
    let file = try #require(RunFile("R", in: folder.path))
    #expect(file.captures == report.captures)
    #expect(file.started == "s" && file.finished == nil)
    #expect(file.host?.name == "lab" && file.user == "u" && file.pipeline?.name == "default")
    #expect(file.context?.commandLine == ["run"])

    let less = try RunFile(Array(#"{"started":"s","host":{"name":"lab"}}"#.utf8))
    #expect(less.context == nil && less.host?.name == "lab" && less.captures == nil)
  }

  @Test(
    "What is no journal of ours gives nothing",
    arguments: ["", "{", "[]", #"{"captures":[{"id":"a"}]}"#])
  func damaged(text: String) throws {
    _ = try write(Array(text.utf8), OutputNames.run)
    #expect(RunFile("R", in: folder.path) == nil)
  }

  @Test(
    "Events of the kinds that are asked for are read in order; damaged and unended lines are left out"
  )
  func events() throws {
    func line(_ event: RunEvent) throws -> String {
      String(decoding: try JSONText.canonical(event), as: UTF8.self)
    }
    var tricky = RunEvent(kind: .progress, time: "2", capture: "a")
    tricky.message = #"says "kind":"capture-started""#
    let lines = [
      try line(RunEvent(kind: .captureStarted, time: "1", capture: "a")), try line(tricky), "{", "",
      #"{"kind":"capture-started"}"#,
      try line(RunEvent(kind: .finished, time: "3", capture: "a", stage: "color")),
      try line(RunEvent(kind: .captureFinished, time: "4", capture: "a")),
    ]
    let path = try write(
      Array((lines.joined(separator: "\n") + "\n" + lines[0]).utf8), OutputNames.events)
    let file = try FileDescriptor.open(path, .readOnly)
    defer { try? file.close() }
    var times: [String] = []
    RunEventReader.read(file, of: [.captureStarted, .captureFinished]) { times.append($0.time) }
    #expect(times == ["1", "4"])
  }
}
