import Captures
import Core
import Glibc
import SystemPackage
import Glibc

/// What failed and why: as a job reports it, as it is noted in the output, as a watcher counts it, and as every view
/// shows it. What is not known is `nil` and has no key.
public struct Failure: Hashable, Sendable, Codable {
  /// `nil`: the capture as a whole.
  public var stage: String?
  /// File, what is wrong, and what to do about it; `nil` if no reason was given.
  public var message: String?
  /// `nil`: not known, or none of its own: a stage that another one keeps from running.
  public var cause: FailureCause?
  /// What exactly went wrong; `nil`: the cause is all that is known.
  public var detail: FailureDetail?
  /// How often it failed in a row, this time included, as far as that counts towards quarantine.
  public var attempts: Int?
  /// When the attempt ended (UTC, ISO 8601).
  public var time: String?
  /// When it is tried again at the earliest (UTC, ISO 8601); `nil`: it is not, or as soon as the machine allows.
  public var retryAt: String?
  /// The id of the run that made the attempt.
  public var run: String?
  /// Log of the attempt, relative to the output folder.
  public var log: String?
  /// What a watcher counts attempts for: files of the capture, program and pipeline. Another key is another beginning.
  package var key: String?
  package var isQuarantined: Bool?
  /// The capture's place was gone when it failed.
  package var isGone: Bool?
  /// With cause `permission`: user and groups of the process that could not read. Another one tries again.
  package var user: String?

  // Facts that only the process of the failure knows; not recorded.

  /// The exit code that the run ends with if nothing graver happens.
  package var exit = 1
  /// Another attempt soon may succeed.
  var mayPass = false
  /// Threads, processes, descriptors or memory are short: whoever needs them waits until others have given some back.
  var isShortage = false
  /// `retryAt` on the monotonic clock.
  package var retryAtSeconds: Double?
  /// Tries in a row that trouble of the machine ended.
  package var machineTries = 0
  /// Whether the capture could not be looked at: it is looked at again at every look, and judged anew when that
  /// succeeds.
  package var isUnseen = false
  /// Something of the capture is published.
  package var hasResults = false
  /// Whether it is noted in the capture's folder in the output; else only the watcher knows it.
  package var isNoted = false

  package enum CodingKeys: CodingKey {
    case stage, message, cause, detail, attempts, time, retryAt, run, log, key, isQuarantined,
      isGone, user
  }

  public init(
    stage: String? = nil, message: String? = nil, cause: FailureCause? = nil,
    detail: FailureDetail? = nil, attempts: Int? = nil, time: String? = nil,
    retryAt: String? = nil, run: String? = nil, log: String? = nil
  ) {
    self.stage = stage
    self.message = message
    self.cause = cause
    self.detail = detail
    self.attempts = attempts
    self.time = time
    self.retryAt = retryAt
    self.run = run
    self.log = log
  }

  /// The text where no reason was given.
  public static let noReason = "no reason was given"

  /// The word that `scanmill explain` knows: what exactly went wrong, else the cause.
  package var code: String? { detail?.code.rawValue ?? cause?.rawValue }

  /// The message, or that no reason was given.
  public var text: String { message ?? Self.noReason }

  /// The text as one line: what a program said last stands in further lines.
  public var line: String { Self.line(text) }

  package static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
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
    /// A file of the capture is whole and not as the app writes it: a column or a key is missing.
    case unlikeTheApp = "unlike-the-app"
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
