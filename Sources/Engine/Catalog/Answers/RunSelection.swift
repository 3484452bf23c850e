import Core

/// Which runs a report is about.
public enum RunSelection: Sendable {
  /// One, by the beginning of its id.
  case run(String)
  /// Runs that were at work at this time or later (nanoseconds since 1970).
  case since(Int64)

  /// Why no run is meant.
  public enum Problem: Error, Sendable, Hashable {
    case noSuchRun(String)
    /// The beginning of several ids.
    case several([String])
  }

  /// Oldest first.
  func runs(of view: OutputSnapshot) throws(Problem) -> [RunEntry] {
    switch self {
    case .run(let text):
      switch IDPrefix.match(text, among: view.runs.map(\.id)) {
      case .one(let id): return view.runs.filter { $0.id == id }
      case .none: throw .noSuchRun(text)
      case .several(let ids): throw .several(ids)
      }
    case .since(let start):
      return view.runs.filter { run in
        // One that was killed has no end; its last event is one.
        (UTCText.nanoseconds(run.end) ?? .min) >= start
      }
    }
  }

  /// Whether an attempt lies in what is asked for: of a run that began before, only what ended since.
  func includes(_ attempt: RunEntry.Attempt, of run: RunEntry) -> Bool {
    guard case .since(let start) = self else { return true }
    guard let end = UTCText.nanoseconds(run.end(of: attempt)) else { return true }
    return end >= start
  }
}
