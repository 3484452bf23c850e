import CPlatform
import Glibc
import SystemPackage

/// Decides from outside whether a process of this program makes progress. Pure: time and signs of
/// life are passed in.
///
/// Only time that this process observed counts. While the machine slept or this process was
/// stopped, nothing is known about the other process.
public struct LifeWatch: Sendable {
  /// Limits on time without progress.
  public struct Limits: Hashable, Sendable {
    /// Seconds of silence beyond the time that a stage may take without progress.
    var silenceSeconds = 60.0
    /// Seconds of computing without progress, both of clock time and of CPU time.
    var spinSeconds = 120.0

    /// Environment variables that override the limits, for tests.
    static let silenceVariable = "SCANMILL_SILENCE_SECONDS"
    static let spinVariable = "SCANMILL_SPIN_SECONDS"
  }

  /// Why the process must be killed.
  public enum Verdict: Hashable, Sendable {
    case silent(seconds: Double)
    case spinning(seconds: Double)

    /// The end of a sentence about the process.
    public var phrase: String {
      switch self {
      case .silent(let seconds): "made no progress for \(Int(seconds.rounded())) s"
      case .spinning(let seconds):
        "used the processor for \(Int(seconds.rounded())) s without progress"
      }
    }
  }

  private let limits: Limits
  private var lastSeconds: Double
  /// Observed seconds without a sign that counts as progress.
  private var silent = 0.0
  /// Observed seconds without any sign, and the CPU time at the last sign.
  private var still = 0.0
  private var stillSinceCPU: Double?
  private var sample: (signs: ProcessSigns, seconds: Double)?
  private var waitedForDisk = 0.0

  /// Longest time that the gap between two calls of `look` counts for, in seconds.
  private static let longestStep = 5.0
  /// Bytes read and page faults per second below which a process counts as waiting: it causes as
  /// many by itself.
  private static let leastReadBytes = 2048.0
  private static let leastFaults = 16.0
  /// Seconds for which waiting for a disk suspends the limit on silence.
  private static let longestDiskWait = 3600.0

  public init(_ limits: Limits, atSeconds now: Double) {
    self.limits = limits
    lastSeconds = now
  }

  /// Records a sign of life that the process has sent.
  public mutating func hear() {
    silent = 0
    waitedForDisk = 0
    still = 0
    stillSinceCPU = nil
  }

  /// Checks the limits; `nil` if the process may go on. May be called often, such as four times a
  /// second: the expensive part runs every few seconds.
  ///
  /// - Parameters:
  ///   - stallSeconds: how long the process may go on without a sign before it should have
  ///     stopped itself; `nil`: without limit.
  ///   - readsAndFaultsCount: whether reads and page faults are progress, for phases in which
  ///     nothing else is counted.
  ///   - signs: reads the current counters of the process.
  public mutating func look(
    atSeconds now: Double, stallSeconds: Double?, readsAndFaultsCount: Bool,
    signs: () -> ProcessSigns?
  ) -> Verdict? {
    let step = min(max(0, now - lastSeconds), Self.longestStep)
    lastSeconds = now
    silent += step
    still += step
    if now - (sample?.seconds ?? -.infinity) >= sampleSeconds, let found = signs() {
      take(found, now, readsAndFaultsCount)
    }
    if let stallSeconds, silent > stallSeconds + limits.silenceSeconds {
      return .silent(seconds: silent)
    }
    if still >= limits.spinSeconds, let cpu = sample?.signs.cpuSeconds, let before = stillSinceCPU,
      cpu - before >= limits.spinSeconds
    {
      return .spinning(seconds: still)
    }
    return nil
  }

  private var sampleSeconds: Double { min(5, limits.spinSeconds / 8, limits.silenceSeconds / 4) }

  private mutating func take(_ found: ProcessSigns, _ now: Double, _ counts: Bool) {
    if let (before, then) = sample {
      let seconds = max(0.1, now - then)
      let hasMoved =
        found.majorFaults > before.majorFaults
        || Double(found.minorFaults - before.minorFaults) >= Self.leastFaults * seconds
        || Double(found.readBytes - before.readBytes) >= Self.leastReadBytes * seconds
      if hasMoved {
        still = 0
        stillSinceCPU = nil
        if counts { silent = 0 }
      }
      if found.waitsForDisk, waitedForDisk < Self.longestDiskWait {
        waitedForDisk += min(seconds, Self.longestStep)
        silent = max(0, silent - min(seconds, Self.longestStep))
      }
    }
    sample = (found, now)
    stillSinceCPU = stillSinceCPU ?? found.cpuSeconds
  }
}

extension LifeWatch.Limits {
  /// The default limits, or those that `environment` sets.
  public init(_ environment: [String: String]) {
    self.init()
    silenceSeconds = Self.number(environment[Self.silenceVariable]) ?? silenceSeconds
    spinSeconds = Self.number(environment[Self.spinVariable]) ?? spinSeconds
  }

  private static func number(_ text: String?) -> Double? {
    text.flatMap { Double($0) }.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
  }
}

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
}

extension ProcessSigns {
  /// The counters of a running process; `nil` if there is none or it has ended.
  public init?(of id: pid_t) {
    guard let fields = ProcessText.statusFields("/proc/\(id)/stat"), fields.count > 12,
      fields[0] != "Z"
    else { return nil }
    // Fields after the name: state, ... minflt is the 8th of them, majflt the 10th, utime the 12th,
    // stime the 13th.
    self.init()
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

/// Reports where the threads of a process of this program are, before it is killed for lack of
/// progress.
public enum ThreadStacks {
  /// Installs the handler that writes the stacks of this process's threads to standard error when
  /// another process requests it.
  public static func answerRequests() { scanmill_tell_stacks() }

  /// For tests: a thread of this process that gets SIGSYS never goes on.
  ///
  /// - Parameter spins: whether it computes forever or waits forever.
  public static func freezeOnRequest(spins: Bool) { scanmill_freeze_on_request(spins ? 1 : 0) }

  /// Writes where each thread of a process is: one or two lines per thread from the kernel, then
  /// the stacks, which the process writes itself. Stopped threads write none.
  ///
  /// Takes up to three seconds.
  ///
  /// - Parameters:
  ///   - write: receives the text from the kernel.
  ///   - size: returns how many bytes the process has written to its standard error so far.
  public static func tell(of id: pid_t, write: (String) -> Void, size: () -> Int64) {
    let threads = ProcessText.threads(of: id)
    write(threads.map { line(id, $0) }.joined(separator: "\n"))
    var asked = 0
    for thread in threads where answers(id, thread) {
      if scanmill_ask_for_stack(id, thread) == 0 { asked += 1 }
    }
    if asked == 0 { return }
    // Waits until no more output arrives.
    let begin = size()
    var last = begin
    var quiet = 0
    for _ in 0..<60 {
      usleep(50_000)
      let now = size()
      quiet = now == last ? quiet + 1 : 0
      last = now
      if quiet >= 6, now > begin { return }
    }
  }

  /// As `tell`, with the text from the kernel as lines.
  public static func text(of id: pid_t, size: () -> Int64) -> String {
    var text = ""
    tell(of: id, write: { text += $0 + "\n" }, size: size)
    return text
  }

  /// Whether the thread would handle the signal that requests its stack, rather than be ended by
  /// it.
  private static func answers(_ id: pid_t, _ thread: pid_t) -> Bool {
    let bit = UInt64(1) << UInt64(scanmill_stack_signal() - 1)
    let status = ProcessText.of("/proc/\(id)/task/\(thread)/status")
    func mask(_ name: String) -> UInt64 {
      status.split(separator: "\n").first { $0.hasPrefix(name) }
        .flatMap { UInt64($0.dropFirst(name.count).drop { $0 == "\t" || $0 == " " }, radix: 16) }
        ?? 0
    }
    return mask("SigCgt:") & bit != 0 && mask("SigBlk:") & bit == 0
  }

  private static func line(_ id: pid_t, _ thread: pid_t) -> String {
    let folder = "/proc/\(id)/task/\(thread)"
    func text(_ name: String) -> String {
      ProcessText.of("\(folder)/\(name)").split(separator: "\n").joined(separator: " < ")
    }
    let fields = ProcessText.statusFields("\(folder)/stat") ?? []
    var words = ["thread \(thread) (\(text("comm")))", "state \(fields.first ?? "?")"]
    if fields.count > 12 {
      words.append("\(fields[11]) + \(fields[12]) ticks of processor time")
    }
    let place = text("wchan")
    if !place.isEmpty, place != "0" { words.append("waits in \(place)") }
    let call = text("syscall").split(separator: " ").prefix(4).joined(separator: " ")
    if !call.isEmpty { words.append("system call \(call)") }
    let stack = text("stack")
    if !stack.isEmpty { words.append("kernel: \(stack)") }
    return "  " + words.joined(separator: ", ")
  }
}
