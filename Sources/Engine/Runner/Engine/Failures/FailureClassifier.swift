import Captures
import Core
import SystemPackage

/// Says what an error in the work on one capture means.
public struct FailureClassifier: Sendable {
  /// The `--output` folder.
  let output: FilePath
  /// The capture's folder.
  let capture: FilePath
  /// The folder of intermediates, if they lie somewhere else.
  var scratch: FilePath?

  private func isOurs(_ path: FilePath) -> Bool {
    path.starts(with: output) || scratch.map { path.starts(with: $0) } == true
  }

  func failure(_ error: any Error) -> Failure {
    var failure = meaning(error)
    failure.message = "\(error)"
    return failure
  }

  private func meaning(_ error: any Error) -> Failure {
    switch error {
    case let error as FileError: return Self.failure(error, side(of: error))
    case let failed as StageFailure: return failed.failure
    case let content as any ContentError:
      if let code = content.errorNumber {
        let side = content.contentFile.map(isOurs) == true ? FailureSide.output : .input
        var failure = FailureTable.failure(side, code)
        if side == .input {
          failure.detail?.file = content.contentFile?.name.map(\.shown.onOneLine)
        }
        failure.detail?.remedy = content.correction
        return failure
      }
      if !FileSystem.exists(capture) { return FailureTable.failure(.input, .gone) }
      if let file = content.contentFile, AccessRefusal.isRefused(file) {
        return Self.refused(file)
      }
      // Damage in what a stage of ours wrote: making that again helps.
      if content.contentFile.map(isOurs) == true { return Failure(cause: .program) }
      return Failure(cause: .input, detail: Self.damage(content))
    case let stopped as CancelledError:
      return Failure(cause: .program, detail: stopped.limit.map { FailureDetail($0) })
    case is InternalError:
      return Failure(exit: ExitStatus.internalError, .program, .internalError)
    default: return Failure(cause: .program)
    }
  }

  /// What an error about the content of a file means: damage, or a calibration that does not fit.
  private static func damage(_ error: any ContentError) -> FailureDetail {
    if error is CalibrationError { return FailureDetail(.unsuitable) }
    return FailureDetail(
      error.correction == nil ? .damaged : .unlikeTheApp,
      file: error.contentFile?.name.map(\.shown.onOneLine), remedy: error.correction)
  }

  /// A file or folder that this user may not read.
  static func refused(_ path: FilePath) -> Failure {
    var failure = FailureTable.failure(.input, .forbidden)
    let commands = AccessRefusal(of: path).commands
    failure.detail?.remedy =
      "give the right with " + commands.map { "`\($0)`" }.joined(separator: " or ")
    return failure
  }

  /// Whatever a place under the output folder did not let us do: results cannot be written there.
  func side(of error: FileError) -> FailureSide {
    if isOurs(error.path) { return .output }
    if error.path.starts(with: capture) { return .input }
    return Self.side(of: error)
  }

  /// For those who know neither: what was tried tells.
  static func side(of error: FileError) -> FailureSide {
    switch error.operation {
    case "start": .program
    case "make": .ourselves
    case _ where error.kind == .noSpace || error.kind == .readOnly || error.isWriting: .output
    default: .input
    }
  }

  /// The meaning of an error of which it is known, or can be told by what was tried, on which side it happened.
  public static func failure(_ error: FileError, _ side: FailureSide? = nil) -> Failure {
    let side = side ?? self.side(of: error)
    var failure = meaning(error, side)
    failure.message = error.description
    return failure
  }

  private static func meaning(_ error: FileError, _ side: FailureSide) -> Failure {
    let group = error.code.map(FailureTable.Group.init)
    if side == .input, (group ?? (error.kind == .permission ? .forbidden : nil)) == .forbidden {
      return refused(error.path)
    }
    var failure =
      switch error.kind {
      case _ where error.code != nil: FailureTable.failure(side, error.code ?? .ioError)
      case .notFound: FailureTable.failure(side, .gone)
      case .permission, .readOnly: FailureTable.failure(side, .forbidden)
      case .noSpace: FailureTable.failure(side, .space)
      case .temporary: FailureTable.failure(side, .device)
      case .exhausted: FailureTable.failure(side, .shortage)
      case .locked: Failure(exit: ExitStatus.locked, .machine)
      // An upload that goes on: the next run reads what it has become.
      case .changedWhileReading: Failure(exit: ExitStatus.jobFailed, .machine, .inputChanged)
      // Trying again does not help until a person has moved it away.
      case .notOurs: Failure(exit: ExitStatus.cannotWrite, .program, .notOurs)
      case .unpublishable: Failure(exit: ExitStatus.jobFailed, .program, .unpublishable)
      case .other: FailureTable.failure(side, .shape)
      }
    failure.detail?.file =
      side == .input ? error.path.name.map(\.shown.onOneLine) : error.path.shown.onOneLine
    failure.detail?.remedy = error.remedy
    return failure
  }
}

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

/// The numbers that scripts check; the gravest wins.
public enum ExitStatus {
  public static let success = 0
  public static let jobFailed = 1
  public static let usage = 64
  public static let noCapture = 65
  public static let notInstalled = 69
  public static let internalError = 70
  public static let cannotWrite = 73
  public static let locked = 75
  public static let badPipeline = 78
  public static let interrupted = 130
  public static let terminated = 143

  /// From the gravest to the least.
  private static let order = [
    interrupted, terminated, internalError, cannotWrite, locked, jobFailed, success,
  ]

  /// The code that a run with all of these ends with; one that is no code of a run is graver than all.
  public static func gravest(_ codes: some Sequence<Int>) -> Int {
    codes.min { (order.firstIndex(of: $0) ?? -1) < (order.firstIndex(of: $1) ?? -1) } ?? success
  }

  /// 1 where something that the run was to make failed or was blocked, or nothing that it named can be made of any
  /// capture.
  static func of(_ report: RunReport, _ codes: Set<Int>) -> Int {
    let outcomes = Set(report.captures.map(\.outcome))
    let isBad =
      outcomes.contains(where: \.hasFailed)
      || (outcomes.contains(.notPossible) && !outcomes.contains(where: \.isDone))
    return gravest(codes.union([isBad ? jobFailed : success]))
  }

  /// Every code with what it means in one sentence without a full stop, in the order of the numbers: for manual
  /// pages and help.
  public static let meanings: [(code: Int, meaning: String)] = [
    (success, "Everything asked for is done, or there was nothing to do"),
    (
      jobFailed,
      "Something that was to be made failed or was blocked; with --exit-code, also: a capture needs you"
    ),
    (usage, "The command line is wrong"),
    (noCapture, "What was named is not a readable capture"),
    (notInstalled, "A program or library that this needs is not installed"),
    (internalError, "An internal error: please report it"),
    (
      cannotWrite,
      "The output cannot be written: disk full, output gone or moved, a device error on its side"
    ),
    (locked, "Another run holds the lock, or the cluster cannot be reached"),
    (badPipeline, "A pipeline file or another configuration file is invalid"),
    (interrupted, "Interrupted (SIGINT)"),
    (terminated, "Terminated (SIGTERM)"),
  ]
}

/// What can be short, told before it does harm: a file that cannot be opened for want of a descriptor
/// must never look like one that is not there.
enum ResourceExhaustion {
  /// No thread can be had.
  static var ofThreads: FileError {
    FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
  }

  /// What a worker has open besides what its helpers read and write.
  private static let descriptorsOfWorker = 40
  /// What a helper has open at a time: the file that it writes, and one that it reads.
  private static let descriptorsOfHelper = 3

  static func descriptors(forCores cores: Int) -> Int {
    descriptorsOfWorker + descriptorsOfHelper * max(1, cores)
  }

  /// Throws when so few descriptors can be opened that the work on a capture would come to want.
  static func checkDescriptors(forCores cores: Int) throws(FileError) {
    let needed = descriptors(forCores: cores)
    var taken: [FileDescriptor] = []
    defer { for descriptor in taken { try? descriptor.close() } }
    do {
      for _ in 0..<needed {
        taken.append(
          try FileDescriptor.open("/dev/null", .readOnly, options: .closeOnExec))
      }
    } catch let error as Errno where error != .noSuchFileOrDirectory {
      var short = FileError(error, path: "descriptors", operation: "make")
      short.reason += ": \(needed) are needed at the same time, \(taken.count) are free"
      throw short
    } catch {
      return
    }
  }
}
