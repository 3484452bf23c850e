import Captures
import Core

/// Tells what happens to the stages of one capture: to all who listen, and to the log of the stage once
/// it has one.
struct StageEvents {
  let sink: any EventSink
  let clock: RunClock
  let layout: OutputLayout
  let run: String
  /// Logs of stages that had work to do.
  private(set) var logs: [String: LogFile] = [:]

  /// The log of a stage in this run; made when its first line comes.
  mutating func log(of stage: String) -> LogFile {
    if let log = logs[stage] { return log }
    let log = LogFile(
      OutputLayout.log(of: stage, capture: layout.name, run: run, in: layout.root),
      below: layout.root)
    logs[stage] = log
    return log
  }

  func progressed(_ stage: StageDefinition, _ progress: StageProgress) {
    let (done, total) = (progress.done, progress.total)
    guard done > 0 else { return }
    send(.progress, stage) {
      $0.frames = done
      $0.totalFrames = total > 0 ? total : nil
    }
  }

  func ended(_ stage: StageDefinition, _ result: JobResult) {
    send(result.report.outcome == .blocked ? .blocked : .finished, stage) {
      $0.outcome = result.report.outcome
      $0.reason = result.report.reason
      $0.why = result.report.why
      $0.seconds = result.report.seconds
      $0.frames = result.report.frames
      $0.warnings = result.warnings.isEmpty ? nil : result.warnings
    }
  }

  func send(
    _ kind: RunEvent.Kind, _ stage: StageDefinition, _ fill: (inout RunEvent) -> Void
  ) {
    var event = RunEvent(
      kind: kind, time: clock.wallText(), capture: layout.name, stage: stage.name)
    event.uses = stage.kind.name
    fill(&event)
    sink.send(event)
    // Progress comes often and is said by the next one.
    if kind != .progress { logs[stage.name]?.write(Self.line(event)) }
  }

  /// An event as a line of a job's log: time, kind, then `key=value`; a view of the same events as `events.jsonl`.
  private static func line(_ event: RunEvent) -> String {
    var parts = [event.time, event.kind.rawValue]
    func add(_ key: String, _ value: String?) {
      if let value { parts.append("\(key)=\(quoted(value))") }
    }
    add("uses", event.uses)
    add("outcome", event.outcome?.rawValue)
    add("reason", event.reason?.rawValue)
    add("cause", event.cause?.rawValue)
    add("detail", event.detail?.code.rawValue)
    add("seconds", event.seconds.map { "\($0)" })
    add("frames", event.frames.map { "\($0)" })
    add("totalFrames", event.totalFrames.map { "\($0)" })
    add("message", event.message)
    for warning in event.warnings ?? [] {
      add(
        "\(warning.severity.rawValue).\(warning.code.rawValue).\(warning.subject)",
        "\(warning.count)")
    }
    return parts.joined(separator: " ")
  }

  private static func quoted(_ text: String) -> String {
    guard text.isEmpty || text.contains(where: { " \"=\n".contains($0) }) else { return text }
    return "\"" + text.map { $0 == "\"" ? "\\\"" : $0 == "\n" ? "\\n" : String($0) }.joined() + "\""
  }
}
