import ArgumentParser
import Captures
import Core
import Engine
import Pages
import SystemPackage
import Glibc

/// A verb whose JSON lists captures.
protocol ListingVerb: ParsableCommand {
  /// What it prints where it ends without a capture; `nil`: no JSON is asked for.
  func empty(_ reason: String) -> EmptyAnswer?
}

extension ListingVerb {
  func printEmpty(_ reason: String) {
    guard let answer = empty(reason), let bytes = try? JSONText.pretty(answer) else { return }
    Console.print(json: bytes)
  }
}

/// Converts errors to text on standard error and exit codes.
enum ErrorText {
  /// Prints the error and ends the process.
  static func exit(with error: any Error, of command: (any ParsableCommand)? = nil) -> Never {
    func end(_ code: Int, _ text: String) -> Never {
      if code == ExitStatus.noCapture { (command as? any ListingVerb)?.printEmpty(text) }
      Console.error("error: " + text)
      exit(code)
    }
    switch error {
    case let end as Exit: exit(end.code)
    case let failure as CommandFailure: end(failure.code, failure.text)
    case let error as PipelineError: end(ExitStatus.badPipeline, error.description)
    case let error as SettingError: end(ExitStatus.usage, error.description)
    case let error as CaptureError: end(ExitStatus.noCapture, error.description)
    case let error as FileError:
      end(FailureClassifier.failure(error).exit, error.description)
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
        Console.error(Self.completed(Scanmill.fullMessage(for: error)))
        exit(ExitStatus.usage)
      }
      end(ExitStatus.internalError, "internal error, please report it: \(error)")
    }
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

  init(_ code: Int, _ text: String) { (self.code, self.text) = (code, text) }
}

extension ProgramPath {
  /// The executable file of this process.
  ///
  /// - Parameter use: the words of the error on what it is needed for.
  static func own(_ use: String) throws -> FilePath {
    guard let program = ofThisProgram else {
      throw CommandFailure(
        ExitStatus.internalError,
        "cannot find this program's own file\(use) (is /proc mounted?)")
    }
    return program
  }
}

extension ErrorText {
  /// The message of the argument parser, with the hint in its first line if that is about a stage or an export format:
  /// `error: Unexpected argument 'tables': tables is a stage; several are separated by commas, without blanks`. Other
  /// messages are unchanged.
  private static func completed(_ message: String) -> String {
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = lines.first, first.lowercased().contains("unexpected argument") else {
      return message
    }
    let quoted = first.split(separator: "'", omittingEmptySubsequences: false)
    guard quoted.count > 2, let what = hint(String(quoted[1])) else { return message }
    let line = "\(first): \(what); several are separated by commas, without blanks"
    return ([line] + lines.dropFirst().map(String.init)).joined(separator: "\n")
  }

  private static func hint(_ word: String) -> String? {
    BuiltInStages.hint(word)
      ?? BuiltInStages.hint("export-" + word).map { _ in "\(word) is an export format" }
  }
}

/// The stages of the built-in pipelines, for hints about names of the wrong kind.
enum BuiltInStages {
  /// Names and kinds in pipeline order.
  static var all: [(name: String, kind: String)] {
    PipelineFinder.builtIn.flatMap { name in
      ((try? PipelineFinder.load(name))?.stages ?? []).map { ($0.name, $0.kind.name) }
    }
  }

  /// A hint if a stage name was given where a kind is expected: `": aligned is a stage; its kind is
  /// called align-depth"`.
  static func kindHint(_ word: String) -> String? {
    let kinds = StageWords.kinds(ofStage: word, all)
    guard !kinds.isEmpty else { return nil }
    let (noun, verb) = kinds.count == 1 ? ("kind", "is") : ("kinds", "are")
    return
      ": \(word) is a stage; its \(noun) \(verb) called \(StageWords.list(kinds)): `scanmill list stages "
      + "\(kinds.joined(separator: ","))` describes \(kinds.count == 1 ? "it" : "them")"
  }

  /// A hint if a name of a parameter was given where something else is expected: `": a parameter of imu; …"`.
  static func parameterHint(_ word: String) -> String? {
    let name = PipelineFinder.builtIn.lazy.compactMap { try? PipelineFinder.load($0) }
      .flatMap { ParameterHelp($0).names }
      .first { $0 == word || $0.hasSuffix("." + word) }
    return name.map { ": a parameter; `scanmill list parameters \($0)` explains it" }
  }

  /// A hint if a name of a stage or kind was given where something else is expected.
  static func hint(_ word: String) -> String? {
    if StageWords.kinds(ofStage: word, all).isEmpty {
      return Toolbox.stages[word] == nil ? nil : "\(word) is a kind of stage"
    }
    return "\(word) is a stage"
  }
}
