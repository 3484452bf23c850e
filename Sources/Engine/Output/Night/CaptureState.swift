/// How a capture stands: exactly one of these at any time, in `watch`, `status`, `report`, metrics and pages.
public enum CaptureState: String, Codable, Sendable, CaseIterable, Hashable {
  /// A file of it appeared, changed or went a moment ago, or a transfer's temporary file lies in it.
  case arriving
  /// A transfer's temporary file lies in it, or an upload server says that more is on its way, and nothing has
  /// come for the time of `--upload-timeout`.
  case stalledUpload = "stalled-upload"
  /// At rest; by the rule of its family a file is missing.
  case incomplete
  /// At rest and whole: waits for a worker, the time window, disk space or a lock.
  case queued
  /// A worker has it.
  case running
  /// Everything asked for is up to date.
  case done
  /// Everything asked for is up to date, with counted warnings, or although files were missing.
  case doneWithWarnings = "done-with-warnings"
  /// A stage failed or was blocked; will be tried again.
  case failed
  /// Skipped until its files, the program or the pipeline change, or `run` names it.
  case quarantined

  /// Whether it needs a person by its state alone.
  public var needsPerson: Bool {
    self == .failed || self == .quarantined || self == .incomplete || self == .stalledUpload
  }

  /// Whether a capture in this state needs a person. The one place that decides it, for pages,
  /// exit codes, metrics and the watcher.
  ///
  /// - Parameters:
  ///   - isShort: a stream has lost more than the pipeline accepts.
  ///   - missing: files that a complete upload would have.
  ///   - isAcknowledged: a person has said that it is all right as it is.
  public func needsPerson(isShort: Bool, missing: [String], isAcknowledged: Bool) -> Bool {
    if isAcknowledged { return false }
    return needsPerson || (isReady && (isShort || !missing.isEmpty))
  }

  /// Whether it is ready to be used.
  public var isReady: Bool { self == .done || self == .doneWithWarnings }

  /// The state as people read it: `done with warnings`.
  public var words: String { rawValue.replacing("-", with: " ") }
}
