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
