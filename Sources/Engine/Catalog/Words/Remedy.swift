import Captures
import Core

/// One or two sentences about what to do about a capture, and how it leaves failure or quarantine.
public struct Remedy: Sendable {
  /// The state: `failed`, `quarantined`, `incomplete`, `queued`, …
  public var state: String
  var cause: FailureCause?
  public var family: String?
  /// Descriptions of families, which include the names of files.
  var families = CaptureRegistry.builtIn
  /// The failure's message; if it names a file, so does the remedy.
  var message: String?
  var attempts = 0
  var missing: [String] = []
  /// The folder of the capture, where missing files belong, or the file that it is; `nil` if it is not known.
  public var folder: String?
  /// The capture is one file: what lies in it cannot be copied one by one.
  var isOneFile = false
  /// What streams have lost that have lost more than the pipeline accepts: `imu: 3 % lost`.
  var losses: [String] = []
  var isGone = false
  /// Earliest time of the next attempt.
  var retryAt: String?
  var waitsFor: String?
  /// Whether a watcher runs, which picks up repairs by itself.
  var isWatched = false

  /// `nil` if there is nothing to do.
  public var sentence: String? {
    switch state {
    case "failed", "quarantined": isGone ? goneSentence : failureSentence
    case "incomplete":
      isOneFile
        ? "Copy \(wholeFile) from the device again: it lacks \(Self.files(missing)); \(pickedUp)."
        : "Copy \(Self.files(missing)) from the device\(destination); \(pickedUp)."
    case "stalled-upload":
      "Check whether the device that sends it is on and in reach, and upload the capture again; \(pickedUp). If "
        + "nobody needs it, remove its temporary file or its folder."
    case "done" where missing.isEmpty && !losses.isEmpty:
      "Copy the capture from the device again; \(pickedUp). If the device "
        + "has no more, record the scene again, or raise `shortfall` of the pipeline."
    case "done" where missing.isEmpty: nil
    case "done":
      (isOneFile
        ? "Copy \(wholeFile) from the device again: it lacks \(Self.files(missing))"
        : "Copy \(Self.files(missing)) from the device\(destination)")
        + "; \(pickedUp)."
    case "queued": waitingSentence
    default: nil
    }
  }

  private var goneSentence: String {
    "Its folder no longer exists. Copy the capture again; \(pickedUp)."
  }

  private var failureSentence: String {
    switch cause {
    case .input:
      if message?.hasPrefix("--strict") == true {
        return
          "Its warnings count as failures because of --strict: `scanmill explain CODE` says what helps against each. Or run it without --strict."
      }
      if message?.contains(CalibrationFit.refusalPhrase) == true {
        return
          "Its calibration belongs to other captures: run it without the parameter, or with a calibration of its own device."
      }
      if let correction { return "\(correction); \(pickedUp)." }
      return "Copy \(damagedFile) again; \(pickedUp)."
    case .permission:
      let command = message?.firstRange(of: "allow it with: ").map { range in
        String((message ?? "")[range.upperBound...].prefix { $0 != "\n" }.dropLast())
      }
      return "Its files are there and may not be read. "
        + (command.map {
          "Give the right with `\($0.replacing(", or for everybody: ", with: "` or `"))`; "
        }
          ?? "Give the user that scanmill runs as the right to read them; ")
        + (isWatched ? "it is tried again when the permissions change." : "then run it again.")
    case .machine:
      return isWatched
        ? "Nothing is wrong with the capture. Free space or bring the disk or network back; it is tried again automatically."
        : "Nothing is wrong with the capture. Free space or bring the disk or network back, then run it again."
    case .program, nil:
      let limit = limitSentence
      if state == "quarantined" {
        return
          "It failed \(Self.times(attempts)) in the same way. \(limit) It is tried again when its "
          + "files, the program or the pipeline change, or with the command shown."
      }
      if let retryAt, isWatched { return "It is tried again automatically at \(retryAt). \(limit)" }
      return limit + " Then run it again."
    }
  }

  /// What helps where another copy does not: errors put it last, in brackets, as an order.
  private var correction: String? {
    let orders = ["name", "state", "add", "leave", "convert", "upload", "write", "move", "put"]
    let line = message?.split(whereSeparator: \.isNewline).first ?? ""
    for piece in line.split(separator: " (").dropFirst() {
      guard let end = piece.lastIndex(of: ")"),
        orders.contains(String(piece.prefix { $0 != " " && $0 != ")" }))
      else { continue }
      return Self.capitalized(String(piece[..<end]))
    }
    return nil
  }

  /// What helps if a limit was reached, by the message.
  private var limitSentence: String {
    if let correction { return correction + "." }
    let text = message?.lowercased() ?? ""
    if text.contains("sigkill") {
      return
        "The system killed it, most likely for want of memory: let fewer captures run at a time with --jobs, or lower --memory so that each claims less."
    }
    if text.contains("memory") {
      return "It ran out of memory: raise --memory, or let fewer captures run at a time."
    }
    if text.contains("its threads stood") {
      return "This program hung: please report it, with the worker's log, which says where."
    }
    if text.contains("time-out") || text.contains("timeout") || text.contains("no progress") {
      return
        "It ran out of time: raise `timeout` or --stall if the capture is long; otherwise read the log."
    }
    if text.contains("ended by sig") || text.contains("crash") {
      return "A program crashed: read the log and report it."
    }
    return "Read the log: it says why the stage failed."
  }

  private var waitingSentence: String? {
    switch waitsFor {
    case "disk": "Free space on the disk of the output; work then continues automatically."
    case "output": "Make the output folder writable again; work then continues automatically."
    case "lock": "Another run is working on it. It continues when that run has ended."
    default: nil
    }
  }

  private var destination: String { folder.map { " to \($0)" } ?? "" }

  private var pickedUp: String {
    isWatched ? "it is picked up automatically" : "then run it again"
  }

  private var wholeFile: String {
    folder.map { "'\($0.split(separator: "/").last.map(String.init) ?? $0)'" } ?? "the file"
  }

  private var damagedFile: String {
    if isOneFile, folder != nil { return "the file \(wholeFile)" }
    guard let file = Self.file(in: message) else { return "the capture from the device" }
    // The files of these captures share a stem, the id, so their ending identifies them.
    if families.description(named: family).namesFilesByStem, let dot = file.lastIndex(of: ".") {
      return "the \(file[dot...]) file"
    }
    return "the file '\(file)'"
  }

  /// `the .h264 and .imu files`, `the file 'metadata.json'`.
  static func files(_ names: [String]) -> String {
    guard let last = names.last else { return "the missing files" }
    let isEndings = names.allSatisfy { $0.hasPrefix(".") }
    let list = names.count == 1 ? last : names.dropLast().joined(separator: ", ") + " and \(last)"
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
