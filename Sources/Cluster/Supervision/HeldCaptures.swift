import Engine

/// Captures that other runs work on. This run waits for them and takes over those that were
/// released.
final class HeldCaptures {
  private let context: ClusterContext
  private var runs = ConcurrentRuns()
  /// Names of captures that this run waits for.
  private var held: Set<String> = []

  /// Captures that other runs have released.
  struct Released {
    /// Results of captures that the other run processed in the same way, in alphabetical order.
    var lines: [CaptureLine] = []
    /// Indices of the others, which still need processing.
    var fresh: [Int] = []
  }

  init(_ context: ClusterContext) { self.context = context }

  /// IDs of the arrays of the other runs.
  var jobs: [String] { runs.jobs }
  /// Whether there is no capture to wait for.
  var isEmpty: Bool { held.isEmpty }
  /// Number of captures to wait for.
  var count: Int { held.count }

  /// Finds other runs on the output. Returns those of `names` that they still work on.
  func find(among names: Set<String>) -> Set<String> {
    runs = ConcurrentRuns(
      in: context.plan.options.output, except: context.plan.run, context.system)
    return names.intersection(runs.working)
  }

  /// Sets the captures to wait for.
  func wait(for names: Set<String>) { held = names }

  /// The run that works on a capture, for messages.
  func holder(of name: String) -> String { runs.holder(of: name) }

  /// Takes new states of other runs' array tasks from the batch system.
  func see(_ table: TaskTable, atSeconds now: Double) { runs.see(table, atSeconds: now) }

  /// The captures released since the last call; they are no longer waited for.
  func release(atSeconds now: Double) -> Released {
    guard !held.isEmpty else { return Released() }
    runs.hear(atSeconds: now)
    let working = runs.working
    let names = held.subtracting(working)
    guard !names.isEmpty else { return Released() }
    held.formIntersection(working)
    var released = Released()
    for name in names.sorted() {
      if let (line, _) = runs.line(of: name, key: context.plan.key), !line.outcome.isLocked,
        line.outcome.report.outcome != .interrupted
      {
        released.lines.append(line)
      } else if let index = context.indices[name] {
        released.fresh.append(index)
      }
    }
    return released
  }
}
