import Core
import SystemPackage

/// The side on which something went wrong.
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

extension Failure {
  /// What a failure means for the run, without words about it.
  init(exit: Int, _ cause: FailureCause, _ code: FailureDetail.Code? = nil, mayPass: Bool = false) {
    self.init(cause: cause, detail: code.map { FailureDetail($0) })
    (self.exit, self.mayPass) = (exit, mayPass)
  }

  /// The graver of two by exit code; among equals the one that may be cured.
  static func graver(_ a: Failure, _ b: Failure) -> Failure {
    if a.exit == b.exit {
      return FailureCause.deciding([a.cause, b.cause].compactMap(\.self)) == a.cause ? a : b
    }
    return ExitStatus.gravest([a.exit, b.exit]) == a.exit ? a : b
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

  public static func failure(_ side: FailureSide, _ errno: Errno) -> Failure {
    var failure = failure(side, Group(errno))
    failure.detail?.number = Int(errno.rawValue)
    return failure
  }

  static func failure(_ side: FailureSide, _ group: Group) -> Failure {
    let failed = ExitStatus.jobFailed
    let unwritable = ExitStatus.cannotWrite
    func machine(_ exit: Int, _ code: FailureDetail.Code, mayPass: Bool = false) -> Failure {
      Failure(exit: exit, .machine, code, mayPass: mayPass)
    }
    switch (side, group) {
    case (_, .shortage):
      var shortage = machine(failed, .shortage)
      shortage.isShortage = true
      return shortage
    case (.input, .mistake), (.output, .mistake), (.ourselves, .mistake), (.ourselves, .shape):
      return Failure(exit: ExitStatus.internalError, .program, .internalError)

    case (.input, .device), (.program, .device), (.ourselves, .device):
      return machine(failed, .deviceError, mayPass: true)
    case (.input, .busy), (.program, .busy), (.ourselves, .busy):
      return machine(failed, .inUse, mayPass: true)
    case (.output, .device): return machine(unwritable, .deviceError, mayPass: true)
    case (.output, .busy): return machine(unwritable, .inUse, mayPass: true)

    case (.input, .forbidden):
      return Failure(exit: failed, .permission, .noPermission)
    case (.input, .shape): return Failure(exit: failed, .input, .damaged)
    case (.input, .space), (.ourselves, .space): return machine(failed, .diskFull)
    case (.input, .gone), (.ourselves, .gone): return machine(failed, .inputGone)
    case (.ourselves, .forbidden): return machine(failed, .notWritable)

    case (.output, .space): return machine(unwritable, .diskFull)
    case (.output, .gone): return machine(unwritable, .outputGone)
    case (.output, .forbidden), (.output, .shape): return machine(unwritable, .notWritable)

    // The program cannot be started: it does not exist, is not executable or is no program.
    case (.program, .space), (.program, .forbidden), (.program, .gone), (.program, .shape),
      (.program, .mistake):
      return Failure(exit: failed, .program, .noProgram)
    }
  }
}
