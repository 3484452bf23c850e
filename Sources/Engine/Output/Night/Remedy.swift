import Captures
import Core
import SystemPackage

/// One or two sentences about what to do about a capture, and how it leaves failure or quarantine.
public struct Remedy: Sendable {
  /// The state: `failed`, `quarantined`, `incomplete`, `queued`, …
  public var state: String
  var failure: Failure?
  public var family: String?
  /// Descriptions of families, which include the names of files.
  var families = CaptureRegistry.builtIn
  var attempts = 0
  var missing: [String] = []
  /// The folder of the capture, where missing files belong, or the file that it is; `nil` if it is not known.
  public var folder: String?
  /// The capture is one file: what lies in it cannot be copied one by one.
  var isOneFile = false
  /// Why one that is done needs a person, where no file is missing.
  var code: NeedReason.Code?
  /// The stream that lost too much.
  var shortfall: Shortfall?
  var warnings: [CaptureWarning] = []
  /// Stages of a run in which nothing failed: their inputs are not up to date.
  var blocked: [String] = []
  /// Stages that a run would make again.
  var stale: [String] = []
  /// How far one has come that has stalled.
  var upload: UploadProgress?
  var isGone = false
  /// Earliest time of the next attempt.
  var retryAt: String?
  var waitsFor: String?
  /// Whether a watcher runs, which picks up repairs by itself.
  var isWatched = false

  /// `nil` if there is nothing to do.
  public var sentence: String? {
    switch state {
    case _ where liesInCloud && ["incomplete", "stalled-upload", "done"].contains(state):
      "A cloud drive holds files of it back: download them on the machine that the folder comes from (\u{22}Keep Downloaded\u{22}), then copy the folder again; \(pickedUp)."
    case "failed", "quarantined": isGone ? goneSentence : failureSentence
    case "incomplete":
      isOneFile
        ? "Copy \(wholeFile) from the device again: it lacks \(Self.files(missing)); \(pickedUp)."
        : "Copy \(Self.files(missing)) from the device\(destination); \(pickedUp)."
    case "stalled-upload":
      "Check whether the device that sends it is on and in reach, and upload the capture again; \(pickedUp). If "
        + "nobody needs it, remove its temporary file or its folder."
    case "done" where code == .stale:
      "Run it again with `--until \(stale.joined(separator: ","))`: no watcher is at work that would take it."
    case "done" where hasOtherClock:
      "Another copy does not help: correct `unit` or `clock` in a capture.yaml of your own, or set `imu.timeOffset` if "
        + "the offset of the clocks is known; else mark it done-as-is."
    case "done" where code == .shortfall:
      "Copy the capture from the device again; \(pickedUp). If the device "
        + "has no more, record the scene again, or raise `shortfall` of the pipeline."
    case "done" where missing.isEmpty: nil
    case "done":
      (isOneFile
        ? "Copy \(wholeFile) from the device again: it lacks \(Self.files(missing))"
        : "Copy \(Self.files(missing)) from the device\(destination)")
        + "; \(pickedUp)."
    case "queued" where code == .interrupted:
      isWatched
        ? "Start the watcher again, which takes it, or run it by hand."
        : "Run the same command again, which makes what is missing."
    case "queued": waitingSentence
    default: nil
    }
  }

  private var liesInCloud: Bool {
    state != "done" && upload?.isInCloud == true
      || (!missing.isEmpty || shortfall != nil) && warnings.contains { $0.code == .notDownloaded }
  }

  /// Whether all frames lie outside of the samples, of which nothing was lost.
  private var hasOtherClock: Bool {
    guard let shortfall, shortfall.stream == "imu", shortfall.held == 0 else { return false }
    return warnings.contains {
      $0.code == .imuOutsideFrames && $0.subject == "imu" && $0.count >= shortfall.warning.count
    }
  }

  private var goneSentence: String {
    "Its folder no longer exists. Copy the capture again; \(pickedUp)."
  }

  /// For stages that read what a run with --only was not asked to make.
  public static func ofBlocked(_ stages: [String]) -> String {
    "Run it with `--until \(stages.joined(separator: ","))` in place of --only: that makes what it reads, too."
  }

  private var failureSentence: String {
    if !blocked.isEmpty { return Self.ofBlocked(blocked) }
    if detail?.code == .strict {
      return
        "Its warnings count as failures because of --strict: `scanmill explain CODE` says what helps against each. Or run it without --strict."
    }
    // Another attempt fails until a person has done it, and nothing of the capture has to change for it.
    if detail?.code == .notOurs { return "\(order), then run it again." }
    switch failure?.cause {
    case .input: return "\(order); \(pickedUp)."
    case .permission:
      return "Its files are there and may not be read. \(order); "
        + (isWatched ? "it is tried again when the permissions change." : "then run it again.")
    case .machine:
      return "Nothing is wrong with the capture. \(order)"
        + (isWatched ? "; it is tried again automatically." : ", then run it again.")
    case .program, nil:
      if state == "quarantined" {
        return
          "It failed \(Self.times(attempts)) in the same way. \(order). It is tried again when its "
          + "files, the program or the pipeline change, or with the command shown."
      }
      if let retryAt, isWatched {
        return "It is tried again automatically at \(retryAt). \(order)."
      }
      return "\(order). Then run it again."
    }
  }

  private var detail: FailureDetail? { failure?.detail }

  /// What helps, as an order without a full stop.
  private var order: String {
    let own = detail?.remedy.map(Self.capitalized)
    let fewer = "let fewer captures run at a time with --jobs"
    switch detail?.code {
    case .damaged: return own ?? "Copy \(damagedFile) again"
    case .unlikeTheApp: return own ?? "Give \(damagedFile) the form in which the app writes it"
    case .unsuitable:
      return
        "A parameter, or the file that it names, does not fit this capture; the message says which: take it back (`--set STAGE.PARAMETER=default`), or give one that fits"
    case .strict: return "Run it without --strict"
    case .noPermission: return own ?? "Give the user that scanmill runs as the right to read them"
    case .diskFull: return "Free space on the disk of the output"
    case .notWritable: return own ?? "Make the output folder writable again"
    case .outputGone: return own ?? "Put the output folder, or its disk, back in its place"
    case .inputGone: return "Bring back the disk or network that its files lie on"
    case .inputChanged:
      return "Its files changed while they were read: wait until its upload has ended"
    case .deviceError:
      let error =
        detail?.number.flatMap(Int32.init(exactly:)).map { " (\(Errno(rawValue: $0)))" } ?? ""
      return "Its disk or network reported an error\(error): bring it back, or check it"
    case .inUse: return "A file that it needs is in use: end the program that uses it"
    case .shortage: return own ?? Self.capitalized(fewer)
    case .addressSpace: return "Raise the limit of the address space (`ulimit -v`), or \(fewer)"
    case .killed:
      return
        "The system killed it, most likely for want of memory: \(fewer), or lower --memory so that each claims less"
    case .terminated:
      return "It was ended from outside\(signal): find out by whom if this happens again"
    case .crashed:
      return "A program crashed\(signal): read the log, which has its last lines"
    case .outOfMemory:
      return own ?? "It used more memory than it may: raise --memory, or \(fewer)"
    case .outOfTime:
      return own
        ?? "It ran out of time: raise `timeout` of the stage if the capture is long; otherwise read the log"
    case .stalled:
      return
        "It showed no progress: raise --stall if a disk or a program is slow; otherwise read the log"
    case .hung: return "This program hung: report it, with the worker's log, which says where"
    case .programFailed:
      let code = detail?.number.map { " with exit code \($0)" } ?? ""
      return "A program of the stage ended\(code): read the log, which has its last lines"
    case .noProgram:
      return
        "A program, or a library that it needs, cannot be found or started: install it, or correct `command` of the stage"
    case .notOurs:
      return
        "Move away \(detail?.file.map { "'\($0)'" } ?? "what is in the place of the results"), which scanmill did not make, or choose another --output"
    case .unpublishable:
      return own ?? "Correct the program of the stage: what it left cannot be published"
    case .internalError: return "This is a mistake of scanmill: report it, with the log"
    case nil:
      switch failure?.cause {
      case .input: return "Copy \(damagedFile) again"
      case .permission: return "Give the user that scanmill runs as the right to read them"
      case .machine: return "The message says what kept it from running: see to that"
      case .program, nil: return "Read the log: it says why the stage failed"
      }
    }
  }

  private var signal: String { detail?.signal.map { " (\($0))" } ?? "" }

  private var waitingSentence: String? {
    switch waitsFor {
    case "disk": "Free space on the disk of the output; \(pickedUp)."
    case "output": "Make the output folder writable again; work then continues automatically."
    case "lock": "Another run is working on it. It continues when that run has ended."
    default: nil
    }
  }

  private var destination: String { folder.map { " to \($0)" } ?? "" }

  private var pickedUp: String {
    isWatched ? "watch then takes it" : "then run it again"
  }

  private var wholeFile: String {
    folder.map { "'\($0.split(separator: "/").last.map(String.init) ?? $0)'" } ?? "the file"
  }

  private var damagedFile: String {
    if isOneFile, folder != nil { return "the file \(wholeFile)" }
    guard let file = detail?.file else { return "the capture from the device" }
    // The files of these captures share a stem, the id, so their ending identifies them.
    if families.description(named: family).namesFilesByStem, let dot = file.lastIndex(of: ".") {
      return "the \(file[dot...]) file"
    }
    return "the file '\(file)'"
  }

  /// `the .h264 and .imu files`, `metadata.json`; at most eight are named.
  static func files(_ names: [String]) -> String {
    guard let last = names.last else { return "the missing files" }
    let isEndings = names.allSatisfy { $0.hasPrefix(".") }
    let (first, rest) =
      names.count > 8 ? (names.prefix(8), "\(names.count - 8) more") : (names.dropLast(), last)
    let list = first.isEmpty ? rest : first.joined(separator: ", ") + " and \(rest)"
    return isEndings ? "the \(list) \(Plural.word(names.count, "file"))" : "\(list)"
  }

  private static func capitalized(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// The file that a message is about: the text before its first colon, if it looks like a file
  /// name.
  static func file(in message: String?) -> String? {
    guard let message else { return nil }
    let line = message.split(separator: "\n", maxSplits: 1).first ?? ""
    for piece in line.split(separator: ": ") {
      // `PATH, record 3, byte 96: …`
      let ends = [", record ", ", byte "].compactMap { piece.firstRange(of: $0)?.lowerBound }
      let part = piece[..<(ends.min() ?? piece.endIndex)]
      let name = part.split(separator: "/").last.map(String.init) ?? String(part)
      guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { continue }
      let ending = name[name.index(after: dot)...]
      let isEnding =
        (1...6).contains(ending.count)
        && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        && ending.contains(where: \.isLetter)
      // A sentence that contains a dot is not a file name.
      if isEnding, part.contains("/") || !name.contains(" ") { return name }
    }
    return nil
  }

  private static func times(_ count: Int) -> String {
    count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
  }
}

/// Quotes arguments for a shell, whatever characters they contain.
public enum ShellText {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+".utf8)

  /// The arguments separated by blanks; texts are encoded by `PathText`.
  public static func command(_ words: [String]) -> String {
    words.map(quoted).joined(separator: " ")
  }

  /// One argument: unchanged if possible, else in single quotes, or as `$'…'` (bash, zsh, ksh) if
  /// it contains control characters, characters that change the writing direction, or invalid text.
  /// The result can be copied into a shell.
  public static func quoted(_ word: String) -> String {
    let bytes = PathText.bytes(of: word)
    if !bytes.isEmpty, bytes.allSatisfy(plain.contains) { return word }
    let isText = String(validating: bytes, as: UTF8.self) != nil
    if isText, word.onOneLine == word {
      return "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "'"): text += #"\'"#
      case UInt8(ascii: "\\"): text += #"\\"#
      case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += octal(byte)
      }
    }
    return "$'" + text + "'"
  }

  /// Three digits, so that a following digit cannot become part of the number.
  private static func octal(_ byte: UInt8) -> String {
    "\\" + byte.padded(3, radix: 8)
  }
}
