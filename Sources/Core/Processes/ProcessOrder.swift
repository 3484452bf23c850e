import FoundationEssentials
import SystemPackage

/// How to start a program.
public struct ProcessOrder: Sendable {
  /// Where a standard stream of the program leads.
  public enum Stream: Sendable {
    /// `/dev/null`.
    case nothing
    /// An open descriptor of this process, which stays open here.
    case descriptor(FileDescriptor)

    var number: Int32 {
      switch self {
      case .nothing: -1
      case .descriptor(let descriptor): descriptor.rawValue
      }
    }
  }

  /// A path, or a bare name that is searched in `PATH`.
  public var program: String
  /// Arguments, without the name of the program.
  public var arguments: [String]
  /// Environment; `nil` for that of this process.
  public var environment: [String: String]?
  var workingFolder: FilePath?
  public var input = Stream.nothing
  public var output = Stream.nothing
  public var error = Stream.nothing
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
