import Logging
@testable import Engine
import Synchronization
import Testing

@testable import Watch

@Suite("Why a watcher makes something again is in its log")
struct CaptureEventLogTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ line: String) { all.withLock { $0.append(line) } }
    var text: [String] { all.withLock { $0 } }
  }

  private static func planned(_ stage: String, _ reason: Reason?) -> RunEvent {
    var event = RunEvent(kind: .planned, time: "t", capture: "a", stage: stage)
    event.action = reason == nil ? .upToDate : .run
    event.reason = reason
    return event
  }

  /// What is logged between the start and the end of a capture whose stages were planned so.
  private func told(_ plan: [(String, Reason?)]) -> [String] {
    let lines = Lines()
    let log = CaptureEventLog(
      Logger(label: "test") { _ in
        LogLineHandler(.journal, time: { "" }, write: { lines.add($0) })
      })
    log.send(RunEvent(kind: .captureStarted, time: "t", capture: "a"))
    for (stage, reason) in plan { log.send(Self.planned(stage, reason)) }
    for (stage, reason) in plan where reason != nil {
      log.send(RunEvent(kind: .started, time: "t", capture: "a", stage: stage))
    }
    log.send(RunEvent(kind: .captureFinished, time: "t", capture: "a"))
    return Array(lines.text.dropFirst().dropLast())
  }

  @Test("The reasons are told once with their stages, before the end")
  func again() {
    #expect(
      told([
        ("color", nil), ("imu", .parameters), ("depth", .inputChanged), ("tables", .parameters),
      ])
        == [
          #"<6>processed again capture=a why="parameters: imu, tables; input-changed: depth""#
            + "\n"
        ])
  }

  @Test("A capture without earlier results says nothing, one that is up to date says so")
  func others() {
    #expect(told([("color", .neverBuilt), ("tables", .neverBuilt)]) == [])
    #expect(
      told([("color", nil), ("tables", nil)])
        == ["<6>up to date, nothing is made again capture=a\n"])
    #expect(
      told([("color", nil), ("tables", .neverBuilt)])
        == [#"<6>processed again capture=a why="never-built: tables""# + "\n"])
  }
}
