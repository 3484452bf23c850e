import Core
import SystemPackage

/// Where something went wrong.
public enum FailureSide: String, Sendable, CaseIterable {
  /// A file of the capture, or one that a parameter names.
  case input
  /// Something under `--output`, or standard output.
  case output
  /// A program of others.
  case program
  /// This program itself: its pipes, threads and workers.
  case ourselves
}

/// What a failure means for the run.
public struct FailureVerdict: Hashable, Sendable, Codable {
  /// What the run ends with if nothing graver happens.
  public var exit: Int
  var cause: FailureCause
  /// Another attempt soon may succeed.
  var mayPass: Bool
  /// Threads, processes, descriptors or memory are short: whoever needs them waits until others have
  /// given some back.
  var isShortage: Bool

  init(
    exit: Int, _ cause: FailureCause, mayPass: Bool = false, isShortage: Bool = false
  ) {
    self.exit = exit
    self.cause = cause
    self.mayPass = mayPass
    self.isShortage = isShortage
  }

  /// The graver of two by exit code; among equals the one that may be cured.
  static func graver(_ a: FailureVerdict, _ b: FailureVerdict) -> FailureVerdict {
    ExitStatus.gravest([a.exit, b.exit]) == a.exit ? a : b
  }
}

/// The one table from (side × error number of the system) to exit code and cause.
public enum FailureTable {
  /// Error numbers that mean the same wherever they come from.
  enum Group: CaseIterable {
    /// The disk, the quota or the file size allowed is used up.
    case space
    /// Rights, or a file system that cannot be written.
    case forbidden
    /// The file, a folder of its path or a mount is not there, or no longer.
    case gone
    /// A disk or a network that fails or does not answer.
    case device
    /// Threads, processes, descriptors or memory.
    case shortage
    /// In use at this moment.
    case busy
    /// We asked for something that makes no sense.
    case mistake
    /// Everything else: the thing is of another kind than it must be.
    case shape

    init(_ errno: Errno) { self = Self.byErrno[errno] ?? .shape }

    private static let byErrno: [Errno: Group] = Dictionary(
      uniqueKeysWithValues: members.flatMap { group, numbers in numbers.map { ($0, group) } })

    static let members: [(Group, [Errno])] = [
      (.space, [.noSpace, .diskQuotaExceeded, .fileTooLarge]),
      (.forbidden, [.permissionDenied, .notPermitted, .readOnlyFileSystem]),
      (.gone, [.noSuchFileOrDirectory, .notDirectory]),
      (.device, Array(FileError.deviceFailures)),
      (.shortage, Array(FileError.shortages)),
      (.busy, Array(FileError.inUse)),
      (.mistake, [.badFileDescriptor, .badAddress]),
    ]
  }

  public static func verdict(_ side: FailureSide, _ errno: Errno) -> FailureVerdict {
    verdict(side, Group(errno))
  }

  static func verdict(_ side: FailureSide, _ group: Group) -> FailureVerdict {
    let failed = ExitStatus.jobFailed
    let unwritable = ExitStatus.cannotWrite
    switch (side, group) {
    case (_, .shortage): return FailureVerdict(exit: failed, .machine, isShortage: true)
    case (.input, .mistake), (.output, .mistake), (.ourselves, .mistake), (.ourselves, .shape):
      return FailureVerdict(exit: ExitStatus.internalError, .program)

    case (.input, .device), (.input, .busy):
      return FailureVerdict(exit: failed, .machine, mayPass: true)
    case (.input, .forbidden): return FailureVerdict(exit: failed, .permission)
    case (.input, .space), (.input, .gone):
      return FailureVerdict(exit: failed, .machine)
    case (.input, .shape): return FailureVerdict(exit: failed, .input)

    case (.output, .device), (.output, .busy):
      return FailureVerdict(exit: unwritable, .machine, mayPass: true)
    case (.output, .space), (.output, .forbidden), (.output, .gone), (.output, .shape):
      return FailureVerdict(exit: unwritable, .machine)

    // What cannot even be started: the file is not there, is no program, may not be run.
    case (.program, .device), (.program, .busy):
      return FailureVerdict(exit: failed, .machine, mayPass: true)
    case (.program, .space), (.program, .forbidden), (.program, .gone), (.program, .shape),
      (.program, .mistake):
      return FailureVerdict(exit: failed, .program)

    case (.ourselves, .device), (.ourselves, .busy):
      return FailureVerdict(exit: failed, .machine, mayPass: true)
    case (.ourselves, .space), (.ourselves, .forbidden), (.ourselves, .gone):
      return FailureVerdict(exit: failed, .machine)
    }
  }
}
