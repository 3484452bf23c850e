import CPlatform
import FoundationEssentials
import Glibc
import SystemPackage

/// How to start a program.
public struct ProcessOrder: Sendable {
  /// A path, or a bare name that is searched in `PATH`.
  public var program: String
  /// Arguments, without the name of the program.
  public var arguments: [String]
  /// Environment; `nil` for that of this process.
  public var environment: [String: String]?
  var workingFolder: FilePath?
  /// Where the standard streams of the program lead: an open descriptor of this process, which stays open here; `nil` for
  /// `/dev/null`.
  public var input: FileDescriptor?
  public var output: FileDescriptor?
  public var error: FileDescriptor?
  /// Whether it leads a process group of its own, so that signals from the terminal do not reach
  /// it.
  public var hasOwnGroup = false
  /// Whether everything that it starts ends with it, however it ends. Implies a process group of
  /// its own. For programs of others. A process that leaves the group or the session (a daemon)
  /// ends as well: the guard is the reaper of all. Where the kernel does not list children
  /// (`CONFIG_PROC_CHILDREN`) it escapes.
  public var isGuarded = false
  /// Whether a guarded program spares what leaves its group or session, which then goes on when the program ends. For
  /// programs whose purpose is to start work elsewhere, such as `sbatch`.
  public var sparesDaemons = false
  /// Whether the kernel kills it when the thread that started it ends. Must be started from a
  /// thread that lives long enough.
  public var diesWithStarter = false
  /// The most private memory that it may allocate, in bytes (`RLIMIT_DATA`; read-only maps are not
  /// counted).
  public var dataLimitBytes: Int64?

  public init(_ program: String, _ arguments: [String]) {
    self.program = program
    self.arguments = arguments
  }

  /// The environment for programs of others: that of this process without variables meant for its
  /// own runtime.
  public static var foreignEnvironment: [String: String] {
    currentEnvironment.filter { $0.key != "SWIFT_BACKTRACE" }
  }

  /// The environment of this process.
  public static var currentEnvironment: [String: String] { ProcessInfo.processInfo.environment }
}

/// A program that this process has started.
public struct ChildProcess: Sendable {
  /// The process ID.
  public let id: pid_t
  private let isGuarded: Bool

  /// Starts the program. Throws when it cannot be started: not found, not executable, no such
  /// working folder. No Swift code runs between fork and exec. Cost: a `vfork`; for a guarded
  /// program a `fork`, proportional to the memory of this process.
  public init(_ order: ProcessOrder) throws(FileError) {
    let executable = try ProgramPath.find(order.program)
    let arguments = CStrings([order.program] + order.arguments)
    let environment = order.environment.map { CStrings($0.map { "\($0.key)=\($0.value)" }) }
    var id = pid_t()
    let code = executable.withPlatformString { executable in
      withOptionalPlatformString(order.workingFolder) { folder in
        var program = scanmill_program()
        program.executable = executable
        program.arguments = UnsafePointer(arguments.pointer)
        program.environment = environment.map { UnsafePointer($0.pointer) }
        program.folder = folder
        program.input = order.input?.rawValue ?? -1
        program.output = order.output?.rawValue ?? -1
        program.error = order.error?.rawValue ?? -1
        program.own_group = order.hasOwnGroup ? 1 : 0
        program.death_signal = order.diesWithStarter ? SIGKILL : 0
        program.guarded = order.isGuarded ? 1 : 0
        program.spares_daemons = order.sparesDaemons ? 1 : 0
        program.descriptor_limit = order.isGuarded ? ProcessLimits.originalDescriptors ?? 0 : 0
        program.data_limit = UInt64(max(order.dataLimitBytes ?? 0, 0))
        return withExtendedLifetime((arguments, environment)) { scanmill_start(&program, &id) }
      }
    }
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: executable, operation: "start")
    }
    self.id = id
    isGuarded = order.isGuarded
  }

  /// Waits until the process has ended. Call once.
  public func wait() -> ProcessEnd {
    var end = scanmill_end()
    return Self.end(scanmill_wait(id, &end), end) ?? Self.unknown
  }

  /// How the process has ended; `nil` while it runs. Does not wait. Must not be called again after
  /// it returned a value.
  func look() -> ProcessEnd? {
    var end = scanmill_end()
    let code = scanmill_look(id, &end)
    return code < 0 ? nil : Self.end(code, end) ?? Self.unknown
  }

  private static let unknown = ProcessEnd(
    way: .exited(127), cpuSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0)

  private static func end(_ code: Int32, _ end: scanmill_end) -> ProcessEnd? {
    guard code == 0 else { return nil }
    return ProcessEnd(
      way: end.signal == 0 ? .exited(end.exit_code) : .killed(signal: end.signal),
      cpuSeconds: end.user_seconds + end.system_seconds, systemSeconds: end.system_seconds,
      peakMemoryBytes: end.peak_memory_bytes)
  }

  /// Asks the process to end (SIGTERM); for a guarded one, also everything that it has started.
  /// Must not be called after `wait`.
  public func terminate() { Glibc.kill(id, SIGTERM) }

  /// Kills the process; for a guarded one, also everything that it has started. Must not be called
  /// after `wait`.
  public func kill() { Glibc.kill(id, isGuarded ? SIGUSR1 : SIGKILL) }
}

/// How a program ended and what it used, including the child processes that it waited for.
public struct ProcessEnd: Hashable, Sendable {
  public enum Way: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  public var way: Way
  /// User and system time.
  public var cpuSeconds: Double
  /// The part of `cpuSeconds` that was spent in the kernel.
  public var systemSeconds: Double
  /// Peak resident memory of the largest of these processes.
  public var peakMemoryBytes: Int64

  public var isSuccess: Bool { way == .exited(0) }

  /// The end of a sentence about the program: "exited with code 3", "was ended by SIGSEGV". SIGKILL comes from outside,
  /// most likely from a kernel without memory.
  public var phrase: String {
    switch way {
    case .exited(let code): "exited with code \(code)"
    case .killed(SIGKILL): "was ended by SIGKILL (most likely for want of memory)"
    case .killed(let number): "was ended by \(SignalName.text(number))"
    }
  }
}

private func withOptionalPlatformString<Result>(
  _ path: FilePath?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let path else { return body(nil) }
  return path.withPlatformString { body($0) }
}

/// A NULL-terminated list of C strings that lives for one call.
private final class CStrings {
  let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointer = .allocate(capacity: count + 1)
    for (index, text) in texts.enumerated() {
      (pointer + index).initialize(to: PathText.withCString(text) { strdup($0) })
    }
    (pointer + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointer[index]) }
    pointer.deallocate()
  }
}

extension ChildProcess {
  /// How a program ended whose limits were watched.
  public enum WatchedEnd<Reason> {
    case ended(ProcessEnd)
    case killed(Reason)
  }

  /// What is to be done about a process that runs.
  public enum Step {
    case goOn, terminate, kill
  }

  /// Waits until the process has ended. Call once, instead of `wait`.
  ///
  /// - Parameter turn: lets some time pass (it reads output, or pauses) and says what to do; called again and again
  ///   while the process runs, with the seconds since the call began.
  public func wait(_ turn: (_ seconds: Double) -> Step) -> ProcessEnd {
    let start = MonotonicClock.seconds()
    while true {
      if let end = look() { return end }
      switch turn(MonotonicClock.seconds() - start) {
      case .goOn: break
      case .terminate: terminate()
      case .kill: kill()
      }
    }
  }

  /// Waits until the process has ended, or until there is a reason to kill it: then it is killed and waited for.
  /// Call once, instead of `wait`.
  ///
  /// - Parameters:
  ///   - pauseMilliseconds: between two looks.
  ///   - reasonToKill: asked at each look while the process runs, with the seconds since the call began.
  public func wait<Reason>(
    pauseMilliseconds: UInt32, reasonToKill: (_ seconds: Double) -> Reason?
  ) -> WatchedEnd<Reason> {
    var reason: Reason?
    let end = wait { seconds in
      if reason == nil {
        reason = reasonToKill(seconds)
        if reason != nil { return .kill }
      }
      usleep(pauseMilliseconds * 1000)
      return .goOn
    }
    return reason.map { .killed($0) } ?? .ended(end)
  }
}

/// Names of signals, for messages.
public enum SignalName {
  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
    SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
  ]

  /// Whether this process ignores the signal, by inheritance or since its start.
  public static func isIgnored(_ number: Int32) -> Bool { scanmill_is_ignored(number) != 0 }

  /// The name, such as `SIGSEGV`; `signal 42` for numbers without one.
  public static func text(_ number: Int32) -> String { names[number] ?? "signal \(number)" }
}

/// Where executable files are.
public enum ProgramPath {
  /// The executable file of this process.
  public static var ofThisProgram: FilePath? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map {
        readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self), bytes.count)
      } ?? 0
    }
    guard count > 0 else { return nil }
    return FilePath(text: PathText.text(of: buffer.prefix(count)))
  }

  /// `path` if it still is the file `known`, else a path of this process's own executable that
  /// survives its replacement. A program that is upgraded while it runs keeps starting the old one.
  public static func lasting(_ path: FilePath, known: FileIdentity?) -> FilePath {
    (try? FileIdentity(of: path)) == known ? path : "/proc/self/exe"
  }

  /// A name without `/` is searched in the folders of `PATH`; a path is returned unchanged.
  public static func find(_ program: String) throws(FileError) -> FilePath {
    if program.contains("/") { return FilePath(text: program) }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    if let found = find(program, in: search.split(separator: ":")) { return found }
    throw FileError(
      kind: .notFound, path: FilePath(text: program), operation: "start",
      reason: "no such program in PATH", remedy: "install it or give its whole path")
  }

  /// The first file of this name in folders that this user may execute.
  public static func find(_ program: String, in folders: [Substring]) -> FilePath? {
    folders.lazy.map { FilePath(text: String($0)).appending(program) }.first {
      $0.withPlatformString { access($0, X_OK) } == 0 && !FileSystem.isFolder($0)
    }
  }
}
