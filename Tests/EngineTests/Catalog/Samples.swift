@testable import Captures
@testable import Engine

/// Made-up captures and runs.
enum Sample {
  static func entry(
    _ id: String = "scan", stages: [StageState] = [.done, .done, .notApplicable],
    _ change: (inout CaptureRow) -> Void = { _ in }
  ) -> CaptureRow {
    let names = ["color", "depth", "geo", "imu", "tables"]
    var entry = CaptureRow(
      id: id, name: id, family: "scannet", path: "/in/\(id)", folder: "/in/\(id)", stem: id,
      page: "\(id)/report.html", pipeline: "default.yaml",
      stages: zip(names, stages).map { StageStatus(stage: $0, uses: "toy-\($0)", state: $1) },
      timings: [
        CaptureRow.Timing(
          stage: "color", seconds: 2, cpuSeconds: 3, frames: 12, bytes: 100, outputs: 12,
          finished: "2026-11-20T01:00:00.000Z")
      ])
    change(&entry)
    return entry
  }

  static func attempt(
    _ capture: String = "scan", _ outcome: RunOutcome?,
    _ change: (inout RunEntry.Attempt) -> Void = { _ in }
  ) -> RunEntry.Attempt {
    var attempt = RunEntry.Attempt(capture: capture)
    attempt.outcome = outcome
    change(&attempt)
    return attempt
  }

  /// A run that started at an hour of 20 November.
  static func run(_ hour: Int, _ attempts: RunEntry.Attempt...) -> RunEntry {
    let time = hour < 10 ? "0\(hour)" : "\(hour)"
    var run = RunEntry(
      id: "20261120T\(time)0000-1-00000000-00000\(hour % 10)",
      started: "2026-11-20T\(time):00:00.000Z")
    run.finished = "2026-11-20T\(time):30:00.000Z"
    run.pipeline = "default"
    run.attempts = attempts
    return run
  }

  static func triage(isQuarantined: Bool = false) -> Failure {
    var failure = Failure(
      stage: "depth", message: "it crashed", cause: .program, attempts: 2,
      time: "2026-11-20T02:00:00.000Z", retryAt: "2026-11-20T03:00:00.000Z", run: "r")
    (failure.key, failure.isQuarantined) = ("k", isQuarantined)
    return failure
  }

  static func waiting(_ state: CaptureState, id: String = "scan", path: String? = nil)
    -> WatchRecord.Waiting
  {
    WatchRecord.Waiting(
      id: id, family: "scannet", path: path ?? "/in/\(id)", state: state,
      since: "2026-11-20T05:00:00.000Z", missing: state == .incomplete ? [".imu"] : [])
  }

  static func watcher(isAlive: Bool = true, at lastLook: String = "2026-11-20T06:00:00.000Z")
    -> NightReport.Watch
  {
    NightReport.Watch(alive: isAlive, staging: nil, lastLook: lastLook)
  }

  static let warning = CaptureWarning(.frameGap, "color", count: 3, "3 gaps")
}
