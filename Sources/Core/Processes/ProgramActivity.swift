import Glibc

/// Whether a guarded program and everything that it has started use the processor.
public struct ProgramActivity {
  private let guardian: pid_t
  private var ticks: Int64 = 0

  /// - Parameter id: the ID of the `ChildProcess`.
  public init(of id: pid_t) {
    guardian = id
  }

  /// Whether CPU time was used since the last call. Cost: reads `/proc` for every process of the
  /// machine.
  public mutating func hasUsedProcessor() -> Bool {
    let now = currentTicks()
    defer { ticks = now }
    return now != ticks
  }

  /// User and system time, in clock ticks, of the process group that the guard's child leads.
  private func currentTicks() -> Int64 {
    let processes = ProcessText.numbers(in: "/proc")
    guard !processes.isEmpty else { return ticks }
    var groups: [pid_t: Int64] = [:]
    var leaders: Set<pid_t> = []
    for id in processes {
      guard let fields = ProcessText.statusFields("/proc/\(id)/stat"), fields.count > 14 else {
        continue
      }
      // Fields after the name: state, parent, group, ... utime is the 12th of them, stime the 13th.
      let (parent, group) = (pid_t(fields[1]) ?? 0, pid_t(fields[2]) ?? 0)
      if parent == guardian { leaders.insert(id) }
      groups[group, default: 0] += (Int64(fields[11]) ?? 0) + (Int64(fields[12]) ?? 0)
    }
    return leaders.reduce(0) { $0 + (groups[$1] ?? 0) }
  }
}
