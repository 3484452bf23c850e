import Core
import Glibc
import SystemPackage

/// How much there is to give away.
public enum MachineLimits {
  /// What the system calls available now, within the limits of the control groups that this process is
  /// in; 4 GiB when nothing can be read.
  static var availableMemoryBytes: Int64 {
    let available = ControlGroup.lines("/proc/meminfo", most: 8192)
      .first { $0.hasPrefix("MemAvailable:") }
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int64($0) }
      .map { $0 * 1024 }
    return [available, ControlGroup().memoryBytes].compactMap { $0 }.min() ?? 4 << 30
  }

  /// The processors that this process may use: its affinity, and what its control groups give it.
  public static var cores: Int {
    min(ProcessorCount.available, ControlGroup().cores ?? .max)
  }

  /// How many workers there are descriptors and threads for; at least 1.
  static var workers: Int {
    max(1, min(workers(forDescriptors: freeDescriptors), workers(forThreads: freeThreads)))
  }

  /// The supervisor keeps two pipes and a log per worker.
  static func workers(forDescriptors free: Int) -> Int { (free - 16) / 4 }

  /// A worker is at least five threads, and one here that listens to it.
  static func workers(forThreads free: Int) -> Int { (free - 4) / 6 }

  private static var freeDescriptors: Int {
    let used = (try? FileSystem.names(in: "/proc/self/fd").count) ?? 16
    return ProcessLimits.descriptors - used
  }

  /// What `ulimit -u` and the control groups leave; the system counts all threads of a user, and does not
  /// count for root.
  private static var freeThreads: Int {
    var free = ControlGroup().freeProcesses ?? .max
    if getuid() != 0, let limit = ProcessLimits.processes {
      free = min(free, limit - threadsOfThisUser)
    }
    return free
  }

  private static var threadsOfThisUser: Int {
    let user = "Uid:\t\(getuid())\t"
    var threads = 0
    for name in (try? FileSystem.names(in: "/proc")) ?? [] where name.first?.isNumber == true {
      let lines = ControlGroup.lines(FilePath("/proc/\(name)/status"), most: 8192)
      guard lines.contains(where: { $0.hasPrefix(user) }) else { continue }
      threads +=
        lines.first { $0.hasPrefix("Threads:") }
        .flatMap { Int($0.dropFirst(8).drop { $0 == "\t" || $0 == " " }) } ?? 1
    }
    return threads
  }
}
