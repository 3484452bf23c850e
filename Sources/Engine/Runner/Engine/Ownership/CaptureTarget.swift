import Captures
import Core

/// A capture and where its results go.
public struct CaptureTarget: Sendable, Codable {
  public var recognition: Recognition
  public var layout: OutputLayout
  /// What is to be done before the folder is this capture's; `nil`: it is.
  var claim: Claim?
  /// Why nothing may be written there.
  var refusal: Failure?
  /// Whether it is left alone where a person marks it so before its work begins: the user did not name it.
  public var heedsMarks = false

  enum Claim: String, Codable {
    /// The folder is new.
    case make
    /// The folder was made from this capture by a version that kept no owner.
    case adopt
    /// The folder was made from this capture at a place that is gone.
    case move
  }

  /// Whether its folder in the output is its own already.
  public var isClaimed: Bool { claim == nil && refusal == nil }

  /// Whether it has no folder in the output yet.
  public var isNew: Bool { claim == .make && refusal == nil }

  /// The report of one that is not processed.
  public func skipped(_ why: String) -> CaptureReport { report(.skipped, Failure(message: why)) }

  /// The report of one that failed without a stage that says it.
  package func failed(_ why: Failure) -> CaptureReport { report(.failed, why) }

  /// The report of one whose results cannot be looked at.
  package func failed(_ error: FileError) -> CaptureReport {
    report(.failed, FailureClassifier.failure(error, .output))
  }

  func report(_ outcome: RunOutcome, _ why: Failure) -> CaptureReport {
    CaptureReport(
      id: layout.name, path: recognition.path.shown, family: recognition.family.rawValue,
      outcome: outcome, why: why)
  }
}
