import ArgumentParser
import Captures
import Engine
import Core

#if canImport(Glibc)
  import Glibc
#endif

/// Converts errors to text on standard error and exit codes.
enum ErrorText {
  /// Prints the error and ends the process.
  static func exit(with error: any Error) -> Never {
    switch error {
    case let end as Exit: exit(end.code)
    case let failure as CommandFailure: end(failure.code, failure.text)
    case let error as PipelineError: end(ExitStatus.badPipeline, error.description)
    case let error as SettingError: end(ExitStatus.usage, error.description)
    case let error as CaptureError: end(ExitStatus.noCapture, error.description)
    case let error as FileError:
      end(FailureClassifier.exitCode(of: error), error.description)
    case let error as CancelledError: end(ExitStatus.interrupted, error.description)
    default:
      // Help, version and invalid command lines come from the argument parser; any other error is a
      // bug.
      let code = Scanmill.exitCode(for: error).rawValue
      if code == 0 {
        Console.print(HelpText.completed(Scanmill.fullMessage(for: error)))
        exit(ExitStatus.success)
      }
      if code == ExitStatus.usage {
        Console.error(CommaHint.completed(Scanmill.fullMessage(for: error)))
        exit(ExitStatus.usage)
      }
      end(ExitStatus.internalError, "internal error, please report it: \(error)")
    }
  }

  private static func end(_ code: Int, _ text: String) -> Never {
    Console.error("error: " + text)
    exit(code)
  }

  /// Ends the process. If results could not be written to standard output, this affects the exit
  /// code.
  static func exit(_ code: Int) -> Never {
    let isLost = Console.closeOutput() != nil
    let final = isLost ? ExitStatus.gravest([code, ExitStatus.cannotWrite]) : code
    ErrorOutput.standard.flush()
    Glibc.exit(Int32(final))
  }
}

/// Ends the process with an exit code, without a message.
struct Exit: Error {
  var code: Int
}

/// An error with its exit code.
struct CommandFailure: Error {
  var code: Int
  var text: String
}
