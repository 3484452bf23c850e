import Captures

/// What makes a warning go away.
enum Cure: String, Sendable, Encodable, CaseIterable {
  /// Another copy of what the device has. While a capture has such a warning, it is not called safe to delete there.
  case copy
  /// A parameter, or a file that one names.
  case parameter
  /// A change of the capture's folder.
  case files
  /// Nothing: it tells how the capture was recorded.
  case none
}

/// The explanation of a code: three or more sentences.
struct CodeWords: Sendable {
  var meaning: String
  var data: String
  var remedy: String
  var cure: Cure

  init(_ meaning: String, data: String, remedy: String, cure: Cure = .none) {
    self.meaning = meaning
    self.data = data
    self.remedy = remedy
    self.cure = cure
  }
}

/// Explains the codes of warnings, causes, states and reasons: meaning, effect on the data, and
/// what to do. Used by `explain CODE`, pages and texts.
public struct CodeReference: Sendable {
  public enum Kind: String, Sendable, CaseIterable, Encodable {
    case warning, cause, reason, state
    case leftOut = "left-out"
  }

  public struct Entry: Sendable, Encodable, Hashable {
    public var schema = 1
    public var code: String
    public var kind: Kind
    public var meaning: String
    /// Effect on the data.
    public var data: String
    public var remedy: String
    /// Cure of a warning.
    var cure: Cure?

    public var text: String { "\(code) (\(kind.rawValue))\n  \(meaning)\n  \(data)\n  \(remedy)" }

    init(_ code: String, _ kind: Kind, _ words: CodeWords) {
      self.code = code
      self.kind = kind
      (meaning, data, remedy) = (words.meaning, words.data, words.remedy)
      guard kind == .warning else { return }
      cure = words.cure
      if words.cure == .none { remedy += " The warning stays." }
    }
  }

  /// Warnings in the order of their list, then causes, reasons, states, and reasons for skipped
  /// frames of exports.
  public static let entries: [Entry] =
    WarningCode.allCases.map { Entry($0.rawValue, .warning, $0.words) }
    + FailureCause.allCases.map { Entry($0.rawValue, .cause, $0.words) }
    + Reason.allCases.map { Entry($0.rawValue, .reason, $0.words) }
    + (states + stageStates).map { Entry($0.state, .state, $0.words) }
    + leftOut.map { Entry($0.code, .leftOut, $0.words) }

  private static let byCode = Dictionary(entries.map { ($0.code, $0) }) { first, _ in first }

  public static subscript(code: String) -> Entry? { byCode[code] }
}

extension FailureCause {
  fileprivate var words: CodeWords {
    switch self {
    case .input:
      CodeWords(
        "The capture's own files cannot be read: they are damaged, or of a kind that is not supported.",
        data: "What needs the damaged file is not made; everything else of the capture is.",
        remedy:
          "Trying again cannot help. Copy the capture from the device again; `scanmill inspect` names the file and the place."
      )
    case .permission:
      CodeWords(
        "A file or folder of the capture is there, but the user that scanmill runs as may not read it.",
        data: "What needs the file is not made. The capture itself is not harmed.",
        remedy:
          "Give that user the right to read it: the message names the file, its mode and owner, the user, and the command. A watcher tries again when the permissions change."
      )
    case .program:
      CodeWords(
        "A stage failed for a reason other than its input: it crashed, exceeded its time or memory limit, a program of a `command` stage failed, or something that scanmill did not make is in the place of its results.",
        data: "The results of this stage are missing. The capture itself is not harmed.",
        remedy:
          "Read the message and the log that the summary names. Raise `timeout` or `--memory` if a limit was reached, run fewer captures at a time if the system killed it, move away what is in its place; report a crash of scanmill itself."
      )
    case .machine:
      CodeWords(
        "Something outside the program failed: the disk is full, input or output is not reachable, a device reported an error, or another run holds a lock.",
        data: "No result was lost; the capture waits as it is.",
        remedy:
          "Free space or bring the device back, then run the same command again: it continues where it stopped."
      )
    }
  }
}

extension Reason {
  fileprivate var words: CodeWords {
    switch self {
    case .forced:
      CodeWords(
        "The stage runs because -R or -F names it.",
        data: "What is published is replaced when the stage has succeeded.",
        remedy: "Leave out the option to run only what is not up to date.")
    case .neverBuilt:
      CodeWords(
        "Nothing has been published for this stage yet.", data: "Its results are missing.",
        remedy: "Nothing to do: `scanmill run` builds it.")
    case .outputsMissing:
      CodeWords(
        "Files that the artifact's record lists no longer exist.",
        data: "The artifact is incomplete.",
        remedy:
          "Nothing to do: the next run makes them again. Do not delete files inside an artifact; use `scanmill clean`."
      )
    case .outputsAltered:
      CodeWords(
        "Files of the artifact, or its record, are not as they were when it was published.",
        data: "What is there may not be what the stage made.",
        remedy:
          "The next run makes it again. Keep your own changes outside the output folder.")
    case .stageVersion:
      CodeWords(
        "The stage, or a library that determines its output, has a different version from the one that made the artifact.",
        data: "What is published was made by the old version.",
        remedy:
          "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` shows old and new versions."
      )
    case .parameters:
      CodeWords(
        "A parameter has a different value from when the artifact was made.",
        data: "What is published was made with the old value.",
        remedy:
          "`scanmill explain CAPTURE STAGE` shows old and new values. Give the old value with --set to keep the artifact."
      )
    case .inputChanged:
      CodeWords(
        "The content of a file of the capture, or of a file that a parameter names, has changed.",
        data: "What is published was made from the old content.",
        remedy:
          "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` names the file."
      )
    case .inputRebuilt:
      CodeWords(
        "A stage that this one reads from was made again, with different content.",
        data: "What is published was made from the old content.",
        remedy: "Nothing to do: the next run makes it again.")
    }
  }
}
