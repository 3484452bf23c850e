import Output
import Runner
import Storage

/// What `sacct` answers: records of what was and what is, which lag behind the queue.
enum RecordsText {
  static let format = "JobID,State,ExitCode,Elapsed,NodeList"

  /// `nil` when there are lines, but none that can be read.
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
    // Both are 0 of what has not ended.
    if fields.count > 2, state != .pending, state != .running, let end = exit(fields[2]) {
      view.exitCode = end.code
      view.signal = end.signal
    }
    if fields.count > 4 { view.node = QueueText.meaning(fields[4]) }
    return (key, view)
  }

  /// `127:0`, `0:9`: code and signal. Signals from 50 on are Slurm's own: 53, files of the job cannot be
  /// opened; 125, out of memory.
  static func exit(_ text: Substring) -> (code: Int, signal: Int?)? {
    let parts = text.trimmed.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let code = Int(parts[0]), let signal = Int(parts[1]) else { return nil }
    return (code, signal == 0 ? nil : signal)
  }
}

/// From when on records are searched for a job by its name: without a beginning `sacct` looks back to
/// midnight only.
enum RecordsStart {
  /// No zone is more than this behind UTC, in which ids of runs tell the time.
  private static let westmostNanoseconds: Int64 = 12 * 3600 * 1_000_000_000

  /// `2026-11-21T00:00:00`: the beginning of the day of a run, in whichever zone Slurm may be.
  static func of(run id: String) -> String {
    guard let made = RunID(id)?.madeNanoseconds else { return "now-7days" }
    return UTCText.day(nanoseconds: made - westmostNanoseconds) + "T00:00:00"
  }
}

extension TaskTable {
  /// The jobs that it is about, each once, sorted.
  var jobs: [String] {
    Set(tasks.keys.map(\.job) + folded.map(\.job)).sorted { ($0.count, $0) < ($1.count, $1) }
  }
}
