import Core
import Glibc
import Synchronization
import SystemPackage

/// Which workers may run at a time: never more than there are cores, never more memory promised than
/// there is, except that one may always run. One for all runs that go on side by side: a run of a watcher that has been
/// given all that it takes, and the next one, which begins while workers of the first are still at work.
public final class Admission: Sendable {
  let cores: Int
  let memoryBytes: Int64
  private let state: Mutex<State>

  private struct State {
    /// Workers that there are descriptors, processes and threads for.
    var mostWorkers: Int
    /// Promised memory of running workers.
    var running: [(place: Int, memoryBytes: Int64)] = []
    var lastPlace = 0
  }

  init(cores: Int, memoryBytes: Int64, mostWorkers: Int = .max) {
    self.cores = max(1, cores)
    self.memoryBytes = max(0, memoryBytes)
    state = Mutex(State(mostWorkers: max(1, mostWorkers)))
  }

  /// A worker's place among all, if it may begin.
  func admit(memoryBytes needed: Int64) -> Int? {
    state.withLock { state in
      let used = state.running.reduce(0) { $0 + $1.memoryBytes }
      let hasSpace = state.running.count < min(cores, state.mostWorkers)
      guard state.running.isEmpty || hasSpace && needed <= memoryBytes - used else { return nil }
      state.lastPlace += 1
      state.running.append((state.lastPlace, max(0, needed)))
      return state.lastPlace
    }
  }

  func release(_ place: Int) { state.withLock { $0.running.removeAll { $0.place == place } } }

  /// How many cores each running worker may keep busy, by place: all are given away, at least one each, the
  /// rest to those that started first.
  var shares: [Int: Int] {
    let places = state.withLock { $0.running.map(\.place) }
    guard !places.isEmpty else { return [:] }
    let (each, rest) = cores.quotientAndRemainder(dividingBy: places.count)
    return Dictionary(
      firstOf: places.enumerated().map { ($0.element, max(1, each + ($0.offset < rest ? 1 : 0))) })
  }

  /// Workers at work, of all runs.
  var count: Int { state.withLock { $0.running.count } }

  /// How many more there are descriptors, processes and threads for.
  var freeWorkers: Int { state.withLock { $0.mostWorkers - $0.running.count } }

  /// Whether there is a core for one more worker.
  public var hasFreeCore: Bool { count < cores }

  /// Something was short for one more than are running now: so many it is from now on.
  func limitToRunning() { state.withLock { $0.mostWorkers = max(1, $0.running.count) } }

  /// A worker has come to its end with nothing short: perhaps there is memory for one more.
  func allowOneMore() { state.withLock { if $0.mostWorkers < .max { $0.mostWorkers += 1 } } }

  /// What a worker of ours uses besides what its stages declare: measured at 100 to 150 MB with a
  /// 1920x1440 video, doubled.
  static let baseMemoryBytes: Int64 = 256 << 20

  /// The memory that a worker on this pipeline is promised.
  public static func expectedMemoryBytes(_ pipeline: PipelineDefinition) -> Int64 {
    pipeline.stages.reduce(baseMemoryBytes) { sum, stage in
      let (total, overflow) = sum.addingReportingOverflow(stage.memoryBytes ?? 0)
      return overflow ? .max : total
    }
  }
}

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

/// What the control group of this process, and all groups above it, leave it: of version 1 or 2, in a
/// name space of its own or not.
struct ControlGroup {
  /// Folders to look into, the process's own first, by controller; version 2 has one for all.
  private let unified: [FilePath]
  private let memory: [FilePath]
  private let cpu: [FilePath]
  private let processes: [FilePath]

  /// - Parameter root: where `/proc` and `/sys` are; another one in tests.
  init(root: FilePath = "/") {
    var unified = "/"
    var byController: [String: String] = [:]
    for line in Self.lines(root.appending("proc/self/cgroup"), most: 64 << 10) {
      // number:controllers:path
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      if parts[1].isEmpty { unified = String(parts[2]) }
      for controller in parts[1].split(separator: ",") {
        byController[String(controller)] = String(parts[2])
      }
    }
    let mount = root.appending("sys/fs/cgroup")
    self.unified =
      Self.chain(unified, below: mount) + Self.chain(unified, below: mount.appending("unified"))
    func chain(_ controller: String) -> [FilePath] {
      Self.chain(byController[controller] ?? "/", below: mount.appending(controller))
    }
    memory = chain("memory")
    cpu = chain("cpu") + chain("cpu,cpuacct")
    processes = chain("pids")
  }

  /// The most memory that this process may use with all that share its group; `nil` without a limit.
  var memoryBytes: Int64? {
    let limits =
      unified.flatMap { [Self.number($0, "memory.max"), Self.number($0, "memory.high")] }
      + memory.map { Self.number($0, "memory.limit_in_bytes") }
    // Version 1 says "no limit" by a number beyond all memory.
    return limits.compactMap { $0 }.filter { $0 < 1 << 60 }.min()
  }

  /// The processors' time that it may use, in whole processors, rounded up; `nil` without a limit.
  var cores: Int? {
    var limits: [Double] = []
    for folder in unified {
      let parts = Self.text(folder, "cpu.max").split(separator: " ").compactMap { Double($0) }
      if parts.count == 2, parts[1] > 0 { limits.append(parts[0] / parts[1]) }
    }
    for folder in cpu {
      guard let quota = Self.number(folder, "cpu.cfs_quota_us"), quota > 0,
        let period = Self.number(folder, "cpu.cfs_period_us"), period > 0
      else { continue }
      limits.append(Double(quota) / Double(period))
    }
    return limits.min().map { max(1, Int(min($0, 65536).rounded(.up))) }
  }

  /// How many more processes and threads its group takes; `nil` without a limit.
  var freeProcesses: Int? {
    (unified + processes).compactMap { folder in
      guard let most = Self.number(folder, "pids.max"),
        let now = Self.number(folder, "pids.current")
      else { return nil }
      return Int(clamping: max(0, most - now))
    }.min()
  }

  /// `path` and all folders above it up to the mount; in a name space, or where the path is that of
  /// the host, some of them are not there, which does no harm.
  private static func chain(_ path: String, below mount: FilePath) -> [FilePath] {
    var names = path.split(separator: "/").filter { $0 != ".." && $0 != "." }
    var folders: [FilePath] = []
    while true {
      folders.append(names.reduce(mount) { $0.appending(String($1)) })
      if names.isEmpty { return folders }
      names.removeLast()
    }
  }

  private static func number(_ folder: FilePath, _ name: String) -> Int64? {
    Int64(text(folder, name))
  }

  private static func text(_ folder: FilePath, _ name: String) -> String {
    lines(folder.appending(name), most: 4096).first.map(String.init) ?? ""
  }

  static func lines(_ path: FilePath, most: Int) -> [Substring] {
    ProcessText.of(path.string, most: most).split(separator: "\n")
  }
}
