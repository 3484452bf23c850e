/// How a capture stands: exactly one of these at any time, in `watch`, `status`, `report`, metrics and pages.
public enum CaptureState: String, Codable, Sendable, CaseIterable, Hashable {
  /// A file of it appeared, changed or went a moment ago, or a transfer's temporary file lies in it.
  case arriving
  /// At rest; by the rule of its family a file is missing.
  case incomplete
  /// At rest and whole: waits for a worker, the time window, disk space or a lock.
  case queued
  /// A worker has it.
  case running
  /// Everything asked for is up to date.
  case done
  /// The same, with counted warnings, or processed although files were missing.
  case doneWithWarnings = "done-with-warnings"
  /// A stage failed or was blocked; will be tried again.
  case failed
  /// Skipped until its files, the program or the pipeline change, or `run` names it.
  case quarantined

  /// Whether somebody has to do something about it.
  public var needsPerson: Bool { self == .failed || self == .quarantined || self == .incomplete }

  /// Whether it is ready to be used.
  public var isReady: Bool { self == .done || self == .doneWithWarnings }

  /// As people read it: `done with warnings`.
  public var words: String { rawValue.replacing("-", with: " ") }
}
