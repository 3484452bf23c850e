import Captures
import Core
import SystemPackage

/// Says what an error in the work on one capture means.
public struct FailureClassifier: Sendable {
  /// The `--output` folder.
  let output: FilePath
  /// The capture's folder.
  let capture: FilePath
  /// Where intermediates lie, if that is somewhere else.
  var scratch: FilePath?

  private func isOurs(_ path: FilePath) -> Bool {
    path.starts(with: output) || scratch.map { path.starts(with: $0) } == true
  }

  func verdict(_ error: any Error) -> FailureVerdict {
    switch error {
    case let error as FileError: return verdict(error)
    case let failure as StageFailure:
      return FailureVerdict(
        exit: ExitStatus.jobFailed, failure.cause, failure.detail, mayPass: failure.isTemporary)
    case let content as any ContentError:
      if let code = content.errorNumber {
        let side = content.contentFile.map(isOurs) == true ? FailureSide.output : .input
        var verdict = FailureTable.verdict(side, code)
        if side == .input {
          verdict.detail?.file = content.contentFile?.name.map(\.shown.onOneLine)
        }
        verdict.detail?.remedy = content.correction
        return verdict
      }
      if !FileSystem.exists(capture) { return FailureTable.verdict(.input, .gone) }
      if let file = content.contentFile, AccessRefusal.isRefused(file) {
        return Self.refused(file)
      }
      // Damage in what a stage of ours wrote: making that again helps.
      if content.contentFile.map(isOurs) == true {
        return FailureVerdict(exit: ExitStatus.jobFailed, .program)
      }
      return FailureVerdict(exit: ExitStatus.jobFailed, .input, Self.damage(content))
    case let stopped as CancelledError:
      return FailureVerdict(
        exit: ExitStatus.jobFailed, .program, stopped.limit.map { FailureDetail($0) })
    case is InternalError:
      return FailureVerdict(
        exit: ExitStatus.internalError, .program, FailureDetail(.internalError))
    default: return FailureVerdict(exit: ExitStatus.jobFailed, .program)
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
  static func refused(_ path: FilePath) -> FailureVerdict {
    var verdict = FailureTable.verdict(.input, .forbidden)
    let commands = AccessRefusal(of: path).commands
    verdict.detail?.remedy =
      "give the right with " + commands.map { "`\($0)`" }.joined(separator: " or ")
    return verdict
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

  private func verdict(_ error: FileError) -> FailureVerdict {
    Self.verdict(error, side(of: error))
  }

  /// For a verb that ends with it.
  public static func exitCode(of error: FileError) -> Int {
    verdict(error, side(of: error)).exit
  }

  /// Exit code of an error that is known to be about the output.
  public static func exitCode(ofOutput error: FileError) -> Int { verdict(error, .output).exit }

  /// Why a file or a folder of a capture cannot be read.
  public static func failure(ofInput error: FileError) -> Failure {
    let verdict = verdict(error, .input)
    return Failure(message: error.description, cause: verdict.cause, detail: verdict.detail)
  }

  static func verdict(_ error: FileError, _ side: FailureSide) -> FailureVerdict {
    let group = error.code.map(FailureTable.Group.init)
    if side == .input, (group ?? (error.kind == .permission ? .forbidden : nil)) == .forbidden {
      return refused(error.path)
    }
    var verdict =
      switch error.kind {
      case _ where error.code != nil:
        FailureTable.verdict(side, error.code ?? .ioError)
      case .notFound: FailureTable.verdict(side, .gone)
      case .permission, .readOnly: FailureTable.verdict(side, .forbidden)
      case .noSpace: FailureTable.verdict(side, .space)
      case .temporary: FailureTable.verdict(side, .device)
      case .exhausted: FailureTable.verdict(side, .shortage)
      case .locked: FailureVerdict(exit: ExitStatus.locked, .machine)
      // An upload that goes on: the next run reads what it has become.
      case .changedWhileReading:
        FailureVerdict(exit: ExitStatus.jobFailed, .machine, FailureDetail(.inputChanged))
      // Trying again does not help until a person has moved it away.
      case .notOurs:
        FailureVerdict(exit: ExitStatus.cannotWrite, .program, FailureDetail(.notOurs))
      case .unpublishable:
        FailureVerdict(exit: ExitStatus.jobFailed, .program, FailureDetail(.unpublishable))
      case .other: FailureTable.verdict(side, .shape)
      }
    verdict.detail?.file =
      side == .input ? error.path.name.map(\.shown.onOneLine) : error.path.shown.onOneLine
    verdict.detail?.remedy = error.remedy
    return verdict
  }
}
