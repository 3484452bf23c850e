import Core
import SystemPackage

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
