import Captures
import Pipeline
import Storage
import SystemPackage

/// A worker that ended without giving its outcome: what to say, and what to leave for the next run.
struct WorkerFailure {
  let target: CaptureTarget
  let trace: CaptureTrace
  let run: String
  let clock: RunClock
  let log: FilePath
  let isInterrupted: Bool

  /// - Parameters:
  ///   - phrase: how it ended, "was ended by SIGSEGV".
  ///   - killReason: why it was killed, if it was.
  func outcome(_ phrase: String, killReason: String?, isSIGBUS: Bool) -> CaptureOutcome {
    var why = killReason ?? "its worker process \(phrase)"
    if !trace.running.isEmpty, killReason == nil {
      why += " while it ran \(trace.running.joined(separator: ", "))"
    }
    if isSIGBUS {
      why +=
        ": input-changed, most likely: a file was cut short while it was read, or its disk failed;"
        + " run again once the upload has settled"
    }
    let lines = LogFile.tail(of: log, lines: 10)
    if !lines.isEmpty { why += "; the last lines of its log:\n" + lines.joined(separator: "\n") }
    leaveNotes(why)
    return CaptureOutcome(trace.report(of: target, why: why, isInterrupted: isInterrupted))
  }

  /// What had been published stays. Only if nobody else has taken the capture up meanwhile.
  private func leaveNotes(_ why: String) {
    let layout = target.layout
    guard
      let lock = try? FileLock(
        at: layout.lock, holder: "scanmill run \(run)", keepWaiting: { _ in false })
    else { return }
    defer { withExtendedLifetime(lock) {} }
    if !isInterrupted {
      for stage in trace.running {
        let staging = layout.staging(stage, run: run)
        FailureNote(message: why, time: clock.wallText()).leave(
          for: stage, partial: FileSystem.isFolder(staging) ? staging : nil, layout: layout)
      }
    }
    try? Publication.sweep(layout)
    Publication.tidy(layout)
  }
}
