@testable import Captures
@testable import Engine
@testable import Core
import TestSupport
import Testing

@Suite("What is told of the stages of a capture")
struct StageEventsTests {
  @Test("Events go to all who listen; a stage that was started has them in its log, progress not")
  func log() throws {
    let folder = try TemporaryFolder()
    let sink = EventLog()
    var events = StageEvents(
      sink: sink, clock: .system, layout: OutputLayout(root: folder.path, name: "scan"),
      run: "run-1")
    let stage = StageDefinition(
      name: "color", kind: ToyColor.self, parameters: ParameterValues(defaultsOf: []))
    let progress = StageProgress()
    events.send(.planned, stage) { $0.action = .run }
    let path = events.log(of: "color").path
    #expect(!FileSystem.exists(path))
    events.send(.started, stage) { $0.reason = .forced }
    // Nothing is done yet: nothing to tell.
    events.progressed(stage, progress)
    progress.expect(9)
    progress.advance(by: 4)
    events.progressed(stage, progress)
    events.send(.retried, stage) { $0.message = "no answer" }
    var result = JobResult(report: StageReport(stage: "color", uses: "toy-color", outcome: .made))
    result.report.frames = 9
    events.ended(stage, result)
    #expect(
      sink.all.map(\.kind) == [.planned, .started, .progress, .retried, .finished])
    #expect(sink.all.allSatisfy { $0.capture == "scan" && $0.uses == "toy-color" })
    #expect(sink.all[2].frames == 4 && sink.all[2].totalFrames == 9)
    let lines = (Text.read(path) ?? "").split(separator: "\n").map {
      $0.split(separator: " ").dropFirst().joined(separator: " ")
    }
    #expect(
      lines == [
        "started uses=toy-color reason=forced", "retried uses=toy-color message=\"no answer\"",
        "finished uses=toy-color outcome=made frames=9",
      ])
  }
}
