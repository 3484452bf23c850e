import Captures
import Core

/// The state of a capture: exactly one of these at any time, in every view.
public enum CaptureState: String, Codable, Sendable, CaseIterable, Hashable {
  /// A file of it appeared, changed or went a moment ago, or a transfer's temporary file lies in it.
  case arriving
  /// A transfer's temporary file lies in it, or an upload server says that more is on its way, and nothing has
  /// come for the time of `--upload-timeout`.
  case stalledUpload = "stalled-upload"
  /// At rest; by the rule of its family a file is missing.
  case incomplete
  /// A folder with files at rest that are no capture of a known family. It counts apart from captures.
  case unrecognized
  /// At rest and whole: a watcher or a run is to take it.
  case queued
  /// A worker has it.
  case running
  /// Everything asked for is up to date.
  case done
  /// A stage failed or was blocked; will be tried again.
  case failed
  /// Skipped until its files, the program or the pipeline change, or `run` names it.
  case quarantined

  /// All but `unrecognized`, which is said of folders.
  public static let ofCaptures = allCases.filter { $0 != .unrecognized }

  /// The state as people read it: `stalled upload`.
  public var words: String { rawValue.replacing("-", with: " ") }

  /// The end of a sentence about one capture: `is still arriving`.
  public var sentence: String {
    switch self {
    case .arriving: "is still arriving"
    case .stalledUpload: "is still arriving, but nothing has come for a while"
    case .incomplete: "is not complete: files are missing"
    case .unrecognized: "is not recognized"
    case .queued: "waits"
    case .running: "is being processed"
    case .done: "is done"
    case .failed: "is not ready: a part of it could not be made"
    case .quarantined: "is not ready and will not be tried again until something changes"
    }
  }

  /// The color in which pages and plots show it.
  public enum Color: String, Sendable {
    case done, warning, waiting, failed, quarantined
  }

  public var color: Color {
    switch self {
    case .done: .done
    case .stalledUpload, .incomplete, .unrecognized: .warning
    case .arriving, .queued, .running: .waiting
    case .failed: .failed
    case .quarantined: .quarantined
    }
  }
}

/// Why a capture needs a person. All of them together are the one answer to whether it does: in `run.json`,
/// `status`, `report`, pages, metrics, the notification, the log of the watcher and exit codes.
public struct NeedReason: Hashable, Sendable, Codable {
  public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
    case failed, quarantined, incomplete
    case stalledUpload = "stalled-upload"
    /// Files that a complete upload has, of a capture that does not wait for them.
    case missingFiles = "missing-files"
    /// Files that are known to be others than the upload server compared with those on the device.
    case alteredFiles = "altered-files"
    /// A stream has lost more than the pipeline accepts.
    case shortfall
    /// Files have changed since it was done, and neither a watcher nor a run is at work to take it.
    case stale
    /// It was not done when the work on it ended, and neither a watcher nor a run is at work to take it.
    case interrupted
  }

  public var code: Code
  /// One sentence, with the numbers.
  public var text: String
  /// What to do about it; `nil`: nothing is known to help.
  public var remedy: String?
  /// The stream that it is about, if it is about one.
  public var stream: String?
  /// The file that it is about, if it is about one.
  public var file: String?

  /// The reasons of one capture; empty: it needs no person. What arrives is judged when it is at rest, and a mark that
  /// counts says that no person is needed. What was asked for last changes nothing.
  ///
  /// - Parameters:
  ///   - stale: stages that a run would make again.
  ///   - isLeft: it waits, and neither a run nor a watcher is at work to take it.
  ///   - remedy: what is known of the capture besides.
  package static func all(
    _ state: CaptureState, failure: Failure? = nil, missing: [String] = [],
    altered: [String] = [], shortfalls: [Shortfall] = [], stale: [String] = [],
    isLeft: Bool = false, upload: UploadProgress? = nil, mark: CaptureMark? = nil,
    remedy known: @autoclosure () -> Remedy? = nil
  ) -> [NeedReason] {
    guard state != .arriving, mark?.isCurrent != true else { return [] }
    lazy var known = known() ?? Remedy(state: "")
    func remedy(
      _ state: CaptureState, _ code: Code? = nil, missing: [String] = [], of lost: Shortfall? = nil
    ) -> String? {
      var remedy = known
      (remedy.state, remedy.code, remedy.missing) = (state.rawValue, code, missing)
      (remedy.stale, remedy.shortfall, remedy.upload) = (stale, lost, upload)
      return remedy.sentence
    }
    var reasons: [NeedReason] = []
    switch state {
    case .failed, .quarantined:
      let message = failure?.text ?? Failure.noReason
      reasons.append(
        NeedReason(
          code: state == .failed ? .failed : .quarantined, text: message,
          remedy: remedy(state), file: Remedy.file(in: message)))
    case .stalledUpload:
      reasons.append(
        NeedReason(
          code: .stalledUpload,
          text: "the upload does not go on"
            + (upload.map { ": " + $0.words(size: ByteCount.text) } ?? ""),
          remedy: remedy(state), file: upload?.temporaryFile))
    case .incomplete, .arriving, .unrecognized, .queued, .running, .done: break
    }
    if state == .incomplete || !missing.isEmpty {
      reasons.append(
        NeedReason(
          code: state == .incomplete ? .incomplete : .missingFiles,
          text: state == .incomplete
            ? OutcomeWords.waits(missing) : "missing: " + OutcomeWords.named(missing),
          remedy: remedy(state == .incomplete ? state : .done, missing: missing),
          file: missing.count == 1 ? missing[0] : nil))
    }
    if !altered.isEmpty {
      let more = altered.count > 3 ? " and \(altered.count - 3) more" : ""
      reasons.append(
        NeedReason(
          code: .alteredFiles,
          text: "not as on the device by the notes of the upload server: "
            + altered.prefix(3).joined(separator: ", ") + more,
          remedy: "Send the capture from the device again. If its files were changed on purpose, "
            + "mark it done-as-is.",
          file: altered.count == 1 ? altered[0] : nil))
    }
    reasons += shortfalls.map {
      NeedReason(
        code: .shortfall, text: "\($0.stream): \($0.message)",
        remedy: remedy(.done, .shortfall, of: $0), stream: $0.stream)
    }
    if state == .done, !stale.isEmpty {
      reasons.append(
        NeedReason(
          code: .stale,
          text: "not up to date: \(stale.joined(separator: ", "))", remedy: remedy(.done, .stale)))
    }
    if state == .queued, isLeft {
      reasons.append(
        NeedReason(
          code: .interrupted, text: "it is not done, and nothing is at work on it",
          remedy: remedy(state, .interrupted)))
    }
    return reasons
  }
}

/// The outcome of a capture in the words that all texts use.
public enum OutcomeWords {
  /// So many captures are named on a line.
  private static let mostNamed = 20

  /// What was asked for by name and is not possible: one line per reason, with stages and captures.
  ///
  /// - Parameter captures: their names, and the stages of each with the reasons.
  public static func notMade(
    _ captures: some Sequence<(name: String, stages: [(stage: String, why: String?)])>
  ) -> [String] {
    var order: [String] = []
    var names: [String: [String]] = [:]
    for (name, stages) in captures where !stages.isEmpty {
      let reasons = stages.map { $0.why ?? "it is not possible" }
      for why in reasons.uniqued {
        let own = zip(stages, reasons).filter { $1 == why }.map(\.0.stage)
        let line = "not made: \(StageWords.list(own)), \(why)".onOneLine
        if names[line] == nil { order.append(line) }
        names[line, default: []].append(name)
      }
    }
    return order.map { "\($0): " + some(names[$0] ?? [], most: mostNamed) }
  }

  /// `a, b, and 3 more`.
  public static func some(_ names: [String], most: Int) -> String {
    names.prefix(most).joined(separator: ", ")
      + (names.count > most ? ", and \(names.count - most) more" : "")
  }

  /// `done`, `done, warnings: 1 kind, 3 occurrences`, `done, no video`, `failed`, `not possible`, …
  public static func text(
    _ outcome: RunOutcome, warnings: WarningCount, missing: [String]
  ) -> String {
    guard outcome.isDone else { return outcome.words }
    var text = "done"
    if !missing.isEmpty { text += ", \(lacks(missing))" }
    return warnings.isNone ? text : text + ", warnings: \(warnings.words)"
  }

  /// `no video, no IMU`; of streams of one file per picture `no depth_00004.png and 2 more like it`.
  ///
  /// - Parameter families: describe the content of files.
  public static func lacks(_ missing: [String], families: CaptureRegistry = .builtIn) -> String {
    var lacks: [(key: String, noun: String, count: Int)] = []
    for file in missing {
      let stream = numbered(file)
      let noun = stream == nil ? noun(file, families) : file
      if let known = lacks.firstIndex(where: { $0.key == stream ?? noun }) {
        lacks[known].count += stream == nil ? 0 : 1
      } else {
        lacks.append((stream ?? noun, noun, 1))
      }
    }
    return lacks.map { _, noun, count in
      count == 1 ? "no \(noun)" : "no \(noun) and \(count - 1) more like it"
    }.joined(separator: ", ")
  }

  /// `no IMU; waits for .imu`.
  static func waits(_ missing: [String], families: CaptureRegistry = .builtIn) -> String {
    guard !missing.isEmpty else { return "files are missing" }
    return "\(lacks(missing, families: families)); waits for \(named(missing))"
  }

  /// `.imu .camera`; at most eight files are named.
  static func named(_ files: [String]) -> String {
    files.prefix(8).map(\.onOneLine).joined(separator: " ")
      + (files.count > 8 ? " and \(files.count - 8) more" : "")
  }

  /// The stream of a file that holds one picture of many: its name without the number. `nil` for other files.
  private static func numbered(_ file: String) -> String? {
    guard let parts = file.wholeMatch(of: /(.*\/)?([A-Za-z]+_)?[0-9]+(\.[A-Za-z0-9]+)/) else {
      return nil
    }
    return "\(parts.1 ?? "")\(parts.2 ?? "")*\(parts.3)"
  }

  /// The content of a file, by its name or ending; the name if the content is unknown.
  private static func noun(_ file: String, _ families: CaptureRegistry) -> String {
    if let known = families.content(ofFile: file) { return known }
    let ending = file.split(separator: ".", omittingEmptySubsequences: false).last.map(String.init)
    switch ending?.lowercased() {
    case "h264", "mp4", "mov", "mkv", "m4v": return "video"
    case "jpg", "jpeg", "png": return "picture"
    default: return file
    }
  }
}
