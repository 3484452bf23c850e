import Captures
import Core
import SystemPackage

/// What failed and why, as it goes from the report of a job to the record of a run, to the state of a capture and
/// to what is told of it.
public struct Failure: Hashable, Sendable, Codable {
  /// `nil`: the capture as a whole.
  public var stage: String?
  /// File, what is wrong, and what to do about it; `nil` if no reason was given.
  public var message: String?
  /// `nil`: not known, or none of its own: a stage that another one keeps from running.
  public var cause: FailureCause?
  /// What exactly went wrong; `nil`: the cause is all that is known.
  public var detail: FailureDetail?

  public init(
    stage: String? = nil, message: String?, cause: FailureCause? = nil,
    detail: FailureDetail? = nil
  ) {
    self.stage = stage
    self.message = message
    self.cause = cause
    self.detail = detail
  }

  /// The text where no reason was given.
  public static let noReason = "no reason was given"
}

/// The cause of a failure, in categories that determine what can be done.
public enum FailureCause: String, Hashable, Codable, Sendable, CaseIterable {
  /// A stream cannot be read. Retrying does not help.
  case input
  /// A stage failed for another reason, crashed, or exceeded its time or memory.
  case program
  /// A file or folder of the capture may not be read by the user that the program runs as. Retrying helps once its
  /// permissions change.
  case permission
  /// Disk full, device error, unreachable input or output, or a shortage of a resource. Retrying
  /// helps once the machine allows it.
  case machine

  /// The cause of a capture whose stages failed for several causes: one for which a later attempt
  /// may succeed has precedence.
  static func deciding(_ causes: some Sequence<FailureCause>) -> FailureCause? {
    let all = Set(causes)
    return [machine, program, permission, input].first(where: all.contains)
  }
}

/// What exactly went wrong: what is to be done about a failure depends on it, never on the words of its message.
///
/// `FailureTable` and `FailureClassifier` make it from errors; every other text about a failure switches over its code.
public struct FailureDetail: Hashable, Sendable, Codable {
  public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
    /// The content of a file of the capture cannot be read.
    case damaged
    /// A parameter, or the file that it names, does not fit the capture.
    case unsuitable
    /// Warnings count as failures.
    case strict
    /// This user may not read a file.
    case noPermission = "no-permission"
    case diskFull = "disk-full"
    /// The output may not be written: rights, a read-only disk, something else in its place.
    case notWritable = "not-writable"
    case outputGone = "output-gone"
    case inputGone = "input-gone"
    /// A file changed or was cut short while it was read.
    case inputChanged = "changed-while-read"
    case deviceError = "device-error"
    case inUse = "in-use"
    /// Threads, processes, descriptors or memory are used up.
    case shortage
    /// The address space is limited (`ulimit -v`), and the process ended without memory.
    case addressSpace = "address-space"
    /// A process was ended by SIGKILL from outside.
    case killed
    /// A process was ended by a signal that asks for it.
    case terminated
    /// A process was ended by a signal that tells of a mistake in it.
    case crashed
    /// A process used more memory than it may.
    case outOfMemory = "out-of-memory"
    case outOfTime = "out-of-time"
    /// A stage showed no progress and was stopped.
    case stalled
    /// A worker made no progress and was killed.
    case hung
    /// A program of a stage has ended with an exit code that tells of failure.
    case programFailed = "program-failed"
    /// A program cannot be started.
    case noProgram = "no-program"
    /// Something that this program did not make is in the place of a result.
    case notOurs = "not-ours"
    /// What a program of a stage has left cannot be published.
    case unpublishable
    /// Our mistake.
    case internalError = "internal-error"
  }

  public var code: Code
  /// The file concerned: of a capture its name alone, else its path as people read it; `nil`: none, or not known.
  public var file: String?
  /// What helps, as an order without a full stop, where the error knows it better than its code tells; commands are
  /// between backticks.
  public var remedy: String?
  /// `SIGKILL`.
  public var signal: String?
  /// Number of an error of the system, or a program's exit code.
  public var number: Int?

  public init(
    _ code: Code, file: String? = nil, remedy: String? = nil, signal: String? = nil,
    number: Int? = nil
  ) {
    self.code = code
    self.file = file
    self.remedy = remedy
    self.signal = signal
    self.number = number
  }
}

#if canImport(Glibc)
  import Glibc
#endif

extension FailureDetail {
  /// How a process came to its end; `nil`: it ended well.
  ///
  /// A shell ends with 128 + 9 where its program was killed.
  public init?(_ way: ProcessEnd.Way) {
    switch way {
    case .exited(0): return nil
    case .exited(126), .exited(127): self.init(.noProgram)
    case .exited(128 + SIGKILL): self.init(.killed, signal: SignalName.text(SIGKILL), number: 137)
    case .exited(let code): self.init(.programFailed, number: Int(code))
    case .killed(let signal):
      let code: Code =
        switch signal {
        case SIGKILL: .killed
        case SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM: .terminated
        case SIGXCPU: .outOfTime
        default: .crashed
        }
      self.init(code, signal: SignalName.text(signal))
    }
  }
}
