import Captures
import Pipeline
import Runner

/// What the codes of warnings, causes and reasons mean, and what to do: the words of `explain CODE`.
public struct CodeBook: Sendable {
  public enum Kind: String, Sendable, CaseIterable, Encodable {
    case warning, cause, reason
  }

  public struct Entry: Sendable, Encodable, Hashable {
    public var code: String
    public var kind: Kind
    public var meaning: String
    public var remedy: String

    public var text: String { "\(code) (\(kind.rawValue))\n  \(meaning)\n  \(remedy)" }
  }

  /// Warnings in the order of their list, then causes, then reasons.
  public static let entries: [Entry] =
    WarningCode.allCases.map { code in
      let (meaning, remedy) = code.words
      return Entry(code: code.rawValue, kind: .warning, meaning: meaning, remedy: remedy)
    }
    + FailureCause.allCases.map { cause in
      let (meaning, remedy) = cause.words
      return Entry(code: cause.rawValue, kind: .cause, meaning: meaning, remedy: remedy)
    }
    + Reason.allCases.map { reason in
      let (meaning, remedy) = reason.words
      return Entry(code: reason.rawValue, kind: .reason, meaning: meaning, remedy: remedy)
    }

  public static subscript(code: String) -> Entry? { entries.first { $0.code == code } }
}

extension FailureCause {
  fileprivate var words: (meaning: String, remedy: String) {
    switch self {
    case .input:
      (
        "The capture's own files cannot be read: they are damaged, or of a kind that is not supported.",
        "Trying again cannot help. Copy the capture from the device again; `scanmill inspect` names the file and the place."
      )
    case .program:
      (
        "A stage failed for another reason than its input: it crashed, ran out of its time or memory, or a program of a `command` stage failed.",
        "Read the log that the summary names. Raise `timeout` or `--memory` where a limit was met; report a crash of scanmill itself."
      )
    case .machine:
      (
        "The machine around the program failed: the disk is full, input or output is not reachable, a device reported an error, or another run holds a lock.",
        "Free space or bring the device back, then run the same command again: it goes on where it stopped. No result was lost."
      )
    }
  }
}

extension Reason {
  fileprivate var words: (meaning: String, remedy: String) {
    switch self {
    case .forced:
      (
        "The stage runs because -R or -F names it.",
        "Leave the option away to run what is not up to date only."
      )
    case .neverBuilt:
      ("Nothing is published of this stage yet.", "Nothing to do: `scanmill run` builds it.")
    case .outputsMissing:
      (
        "Files that the artifact's record lists are not there any more.",
        "Nothing to do: the next run makes them again. Do not delete files inside of an artifact; use `scanmill clean`."
      )
    case .outputsAltered:
      (
        "Files of the artifact, or its record, are not as they were when it was published.",
        "The next run makes it again. Keep changes of your own outside of the output folder."
      )
    case .stageVersion:
      (
        "The stage, or a library that decides its bytes, has another version than the one that made the artifact.",
        "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` shows old and new versions."
      )
    case .parameters:
      (
        "A parameter has another value than when the artifact was made.",
        "`scanmill explain CAPTURE STAGE` shows old and new values. Give the old value with --set to keep the artifact."
      )
    case .inputChanged:
      (
        "The content of a file of the capture, or of a file that a parameter names, has changed.",
        "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` names the file."
      )
    case .inputRebuilt:
      (
        "Another stage that this one reads from was made again, with another content.",
        "Nothing to do: the next run makes it again."
      )
    }
  }
}
