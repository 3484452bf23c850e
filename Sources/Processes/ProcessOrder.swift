import FoundationEssentials
import SystemPackage

/// A program to start.
public struct ProcessOrder: Sendable {
  /// Where a standard descriptor of the program leads.
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

  /// A path; a bare name is looked for in `PATH`.
  public var program: String
  /// Without the name of the program.
  public var arguments: [String]
  /// `nil`: that of this process.
  public var environment: [String: String]?
  public var workingFolder: FilePath?
  public var input = Stream.nothing
  public var output = Stream.nothing
  public var error = Stream.nothing
  /// Whether it leads a process group of its own: then signals of a terminal do not reach it.
  public var hasOwnGroup = false
  /// Whether what it starts ends with it, however it ends; it has its own group then. For programs of
  /// others, which do not know of us. What leaves the group (a daemon) escapes.
  public var isGuarded = false
  /// The kernel kills it when the thread that starts it ends, whatever ends that. Start it from a
  /// thread that stays.
  public var diesWithStarter = false
  /// The most private memory that it may allocate (`RLIMIT_DATA`: read-only maps are not counted).
  public var dataLimitBytes: Int64?

  public init(_ program: String, _ arguments: [String]) {
    self.program = program
    self.arguments = arguments
  }

  /// The variables that programs of others run with: those of this process without what is said to its
  /// own runtime.
  public static var foreignEnvironment: [String: String] {
    currentEnvironment.filter { $0.key != "SWIFT_BACKTRACE" }
  }

  /// The variables that this process runs with.
  public static var currentEnvironment: [String: String] { ProcessInfo.processInfo.environment }
}
