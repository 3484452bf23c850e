import Engine
import Core

/// Parses the output of `sacct`: records of current and ended jobs, which lag behind the queue.
enum RecordsText {
  static let format = "JobID,State,ExitCode,Elapsed,NodeList"

  /// `nil` if there are lines but none can be parsed.
  static func table(_ text: String) -> TaskTable? {
    var table = TaskTable(isQueue: false)
    var hasLines = false
    var isReadable = false
    for line in text.split(whereSeparator: \.isNewline) {
      hasLines = true
      guard let (key, view) = row(line) else { continue }
      isReadable = true
      table.add(key, view)
    }
    return hasLines && !isReadable ? nil : table
  }

  static func row(_ line: Substring) -> (TaskKey, TaskView)? {
    let fields = line.split(separator: "|", omittingEmptySubsequences: false)
    guard fields.count >= 2, let key = TaskKey(fields[0].trimmed),
      let (state, by) = StateText.state(fields[1])
    else { return nil }
    var view = TaskView(state, cancelledBy: by)
    // Both are 0 for tasks that have not ended.
    if fields.count > 2, state != .pending, state != .running, let end = exit(fields[2]) {
      view.exitCode = end.code
      view.signal = end.signal
    }
    if fields.count > 4 { view.node = QueueText.meaning(fields[4]) }
    return (key, view)
  }

  /// Exit code and signal of `127:0` or `0:9`. Signals from 50 on are Slurm's own: 53 means that
  /// files of the job cannot be opened, 125 out of memory.
  static func exit(_ text: Substring) -> (code: Int, signal: Int?)? {
    let parts = text.trimmed.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let code = Int(parts[0]), let signal = Int(parts[1]) else { return nil }
    return (code, signal == 0 ? nil : signal)
  }
}

/// The start of a search for jobs by name. By default `sacct` goes back only to midnight.
enum RecordsStart {
  /// The time zone farthest behind UTC. Run IDs contain UTC times.
  private static let westmostNanoseconds: Int64 = 12 * 3600 * 1_000_000_000

  /// A time that is not after the start of a run in any time zone: `2026-11-21T00:00:00`.
  static func of(run id: String) -> String {
    guard let made = RunID(id)?.madeNanoseconds else { return "now-7days" }
    return UTCText.day(nanoseconds: made - westmostNanoseconds) + "T00:00:00"
  }
}

extension TaskTable {
  /// The IDs of its jobs, each once, sorted.
  var jobs: [String] {
    Set(tasks.keys.map(\.job) + folded.map(\.job)).sorted { ($0.count, $0) < ($1.count, $1) }
  }
}
