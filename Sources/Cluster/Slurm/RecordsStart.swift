import FoundationEssentials
import Output
import Runner

/// From when on records are searched for a job by its name: without a beginning `sacct` looks back to
/// midnight only.
enum RecordsStart {
  /// No zone is more than this behind UTC, in which ids of runs tell the time.
  private static let westmostNanoseconds: Int64 = 12 * 3600 * 1_000_000_000

  /// `2026-11-21T00:00:00`: the beginning of the day of a run, in whichever zone Slurm may be.
  static func of(run id: String) -> String {
    guard let made = RunID(id)?.madeNanoseconds else { return "now-7days" }
    let moment = Date(
      timeIntervalSince1970: Double((made - westmostNanoseconds) / 1_000_000_000))
    return moment.formatted(.iso8601.year().month().day()) + "T00:00:00"
  }
}

extension TaskTable {
  /// The jobs that it is about, each once, sorted.
  var jobs: [String] {
    Set(tasks.keys.map(\.job) + folded.map(\.job)).sorted { ($0.count, $0) < ($1.count, $1) }
  }
}
