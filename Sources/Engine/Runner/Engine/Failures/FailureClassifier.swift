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
        exit: ExitStatus.jobFailed, failure.cause, mayPass: failure.isTemporary)
    case let content as any ContentError:
      if let code = content.errorNumber {
        let side = content.contentFile.map(isOurs) == true ? FailureSide.output : .input
        return FailureTable.verdict(side, code)
      }
      if !FileSystem.exists(capture) { return FailureTable.verdict(.input, .gone) }
      if let file = content.contentFile, AccessRefusal.isRefused(file) {
        return FailureTable.verdict(.input, .forbidden)
      }
      // Damage in what a stage of ours wrote: making that again helps.
      let isOurs = content.contentFile.map(isOurs) ?? false
      return FailureVerdict(exit: ExitStatus.jobFailed, isOurs ? .program : .input)
    case is InternalError: return FailureVerdict(exit: ExitStatus.internalError, .program)
    default: return FailureVerdict(exit: ExitStatus.jobFailed, .program)
    }
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
  public static func cause(ofInput error: FileError) -> FailureCause {
    verdict(error, .input).cause
  }

  static func verdict(_ error: FileError, _ side: FailureSide) -> FailureVerdict {
    if let code = error.code { return FailureTable.verdict(side, code) }
    switch error.kind {
    case .notFound: return FailureTable.verdict(side, .gone)
    case .permission, .readOnly: return FailureTable.verdict(side, .forbidden)
    case .noSpace: return FailureTable.verdict(side, .space)
    case .temporary: return FailureTable.verdict(side, .device)
    case .exhausted: return FailureTable.verdict(side, .shortage)
    case .locked: return FailureVerdict(exit: ExitStatus.locked, .machine)
    // An upload that goes on: the next run reads what it has become.
    case .changedWhileReading: return FailureVerdict(exit: ExitStatus.jobFailed, .machine)
    // Trying again does not help until a person has moved it away.
    case .notOurs: return FailureVerdict(exit: ExitStatus.cannotWrite, .program)
    case .unpublishable: return FailureVerdict(exit: ExitStatus.jobFailed, .program)
    case .other: return FailureTable.verdict(side, .shape)
    }
  }
}
