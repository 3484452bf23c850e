import Captures
import FoundationEssentials

/// A capture to be opened by another process, and what is asked of it; a line of JSON.
public struct InspectionRequest: Sendable, Codable {
  public enum Question: Sendable, Codable {
    /// What planning needs, and what stages are expected to write follows from.
    case summary
    /// What `inspect` prints; where it is quick, depth and confidence are not decoded.
    case inspection(isQuick: Bool)
    /// What `view` shows: so many frames at most (`nil` leaves it to the other), as a PNG or a JPEG file.
    case sheet(frames: Int?, isJPEG: Bool)
  }

  public var recognition: Recognition
  public var question: Question
  /// A calibration asked for in place of the capture's own.
  public var calibration: String?
  public var calibrationFolder: String?
  /// How many cores may be busy.
  public var cores = 1

  public init(
    _ question: Question = .summary, of recognition: Recognition, calibration: String? = nil,
    calibrationFolder: String? = nil
  ) {
    self.question = question
    self.recognition = recognition
    self.calibration = calibration
    self.calibrationFolder = calibrationFolder
  }
}

/// What the other process has to say; a line of JSON.
public struct InspectionResponse: Sendable, Codable {
  var opened: OpenedCapture?
  public var inspection: InspectionPage?
  public var sheet: InspectionPicture?
  /// Why the capture cannot be opened.
  public var error: CaptureError?
}

/// A picture of a capture, as a file.
public struct InspectionPicture: Sendable, Codable {
  public var file: Data
  /// Canonical frames that it shows.
  public var frames: [Int]
  /// Parts that the sheet shows: `color`, `overlay`, `depth`, `imu`.
  public var parts: [String]
  /// What could not be shown, and why.
  public var notes: [String]

  public init(file: [UInt8], frames: [Int], parts: [String], notes: [String]) {
    self.file = Data(file)
    (self.frames, self.parts, self.notes) = (frames, parts, notes)
  }
}

/// An inspection as it is printed.
public struct InspectionPage: Sendable, Codable {
  /// The JSON document, indented, with a line end.
  public var document: String
  public var text: String
  /// Why the calibration in force cannot be used.
  public var calibrationProblem: String?
  /// Warnings without notes.
  public var warnings: Int
  /// Why it needs a person; empty: it needs no person.
  public var reasons: [NeedReason]

  /// - Parameter found: the warnings of opening it and of reading its streams.
  public init(
    document: String, text: String, calibrationProblem: String?, of capture: Capture,
    found: [CaptureWarning]
  ) {
    self.document = document
    self.text = text
    self.calibrationProblem = calibrationProblem
    warnings = found.withoutNotes.count
    let error = capture.errors.first
    reasons = NeedReason.all(
      error == nil ? .done : .failed,
      failure: error.map { Failure(message: "\($0)", cause: .input) },
      missing: capture.completeness.absentFiles,
      altered: UploadRecord.altered(in: capture.path) { _, _ in nil },
      shortfalls: Shortfall.found(
        lacking: capture.claims.lacking, holes: [:], percent: Shortfall.usualPercent))
  }
}
