import Glibc

/// Counters that the kernel keeps for a process, which show whether it computes and reads or only
/// waits.
public struct ProcessSigns: Hashable, Sendable {
  /// User and system time of all its threads, including those that have ended.
  public var cpuSeconds = 0.0
  /// Page faults served from memory, and those served from a disk.
  var minorFaults: Int64 = 0
  var majorFaults: Int64 = 0
  /// Bytes read from files, pipes and sockets; 0 where the kernel does not report it.
  var readBytes: Int64 = 0
  /// Whether one of its threads waits for a disk (state D).
  public var waitsForDisk = false

  init() {}

  /// The counters of a running process; `nil` if there is none or it has ended.
  public init?(of id: pid_t) {
    guard let fields = ProcessText.statusFields("/proc/\(id)/stat"), fields.count > 12,
      fields[0] != "Z"
    else { return nil }
    // Fields after the name: state, ... minflt is the 8th of them, majflt the 10th, utime the 12th,
    // stime the 13th.
    minorFaults = Int64(fields[7]) ?? 0
    majorFaults = Int64(fields[9]) ?? 0
    let ticks = (Int64(fields[11]) ?? 0) + (Int64(fields[12]) ?? 0)
    cpuSeconds = Double(ticks) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let line = ProcessText.of("/proc/\(id)/io").split(separator: "\n").first
    readBytes = line.flatMap { $0.split(separator: " ").last }.flatMap { Int64($0) } ?? 0
    waitsForDisk = ProcessText.threads(of: id).contains { thread in
      ProcessText.statusFields("/proc/\(id)/task/\(thread)/stat")?.first == "D"
    }
  }
}
