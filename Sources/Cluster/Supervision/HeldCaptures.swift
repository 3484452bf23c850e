import Output
import Pipeline
import Runner

/// Captures that elements of other runs still work on: this run waits for them, and takes over what they let go.
final class HeldCaptures {
  private let context: ClusterContext
  private var runs = ConcurrentRuns()
  /// Names of captures that this run waits for.
  private var held: Set<String> = []

  /// Captures that were let go.
  struct Released {
    /// Of those to which the other run did the same: what it gave, in alphabetical order.
    var lines: [CaptureLine] = []
    /// The others, by index.
    var fresh: [Int] = []
  }

  init(_ context: ClusterContext) { self.context = context }

  /// Ids of the arrays of those runs.
  var jobs: [String] { runs.jobs }
  /// Whether none is waited for.
  var isEmpty: Bool { held.isEmpty }
  /// How many are waited for.
  var count: Int { held.count }

  /// Looks for other runs on the output. Those of `names` that they still have.
  func find(among names: Set<String>) -> Set<String> {
    runs = ConcurrentRuns(
      in: context.plan.options.output, except: context.plan.run, context.system)
    return names.intersection(runs.working)
  }

  /// Waits for these.
  func wait(for names: Set<String>) { held = names }

  /// Who has a capture, for messages.
  func holder(of name: String) -> String { runs.holder(of: name) }

  /// Takes what the batch system says of elements of other runs.
  func see(_ table: TaskTable, atSeconds now: Double) { runs.see(table, atSeconds: now) }

  /// What has been let go since the last time; it is waited for no more.
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
