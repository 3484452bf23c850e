import Captures
import Engine

/// What has to be found out about a place before the next step.
struct IntakeQuestion: Sendable {
  var location: CaptureLocation
  var stamp: FolderSignature
  var recognition: Recognition
  var target: CaptureTarget?
  /// Whether the capture has been at rest long enough to be opened.
  var mayOpen: Bool
  /// Whether its family's rule of completeness is asked.
  var asksForFiles: Bool
  /// Files that an upload server waits for.
  var waitsFor: [String] = []
}

/// What was found out about a place.
enum IntakeAnswer: Sendable {
  /// `missing`: files that it was processed without. `isUnverified`: by names, sizes and times of modification, not
  /// by all stamps.
  case done(
    hasWarnings: Bool, isShort: Bool = false, missing: [String] = [], isUnverified: Bool = false,
    OutputSignature?)
  case failed(AttemptFailure)
  case quarantined(AttemptFailure)
  case incomplete(missing: [String], device: String? = nil)
  case ready
  /// The capture's state is not known without opening it.
  case unknown
}
