import Captures
import FoundationEssentials

/// A capture to be opened by another process, and what is asked of it; a line of JSON.
public struct InspectionRequest: Sendable, Codable {
  public var recognition: Recognition
  /// `nil`: only what planning needs.
  var inspection: Inspection?
  /// Set when a picture is asked for.
  var sheet: Sheet?
  /// How many cores may be busy.
  public var cores: Int

  /// What `inspect` wants to know.
  public struct Inspection: Sendable, Codable {
    /// Depth and confidence are not decoded.
    public var isQuick: Bool
    /// A calibration asked for in place of the capture's own.
    public var calibration: String?
    public var calibrationFolder: String?

    public init(isQuick: Bool, calibration: String?, calibrationFolder: String?) {
      self.isQuick = isQuick
      self.calibration = calibration
      self.calibrationFolder = calibrationFolder
    }
  }

  /// What `view` wants to see.
  public struct Sheet: Sendable, Codable {
    /// How many frames at most; `nil` leaves it to the other.
    public var frames: Int?
    /// A calibration asked for in place of the capture's own.
    public var calibration: String?
    public var calibrationFolder: String?
    /// A JPEG file, not a PNG one.
    public var isJPEG: Bool

    public init(frames: Int?, calibration: String?, calibrationFolder: String?, isJPEG: Bool) {
      (self.frames, self.calibration) = (frames, calibration)
      (self.calibrationFolder, self.isJPEG) = (calibrationFolder, isJPEG)
    }
  }

  public init(
    _ recognition: Recognition, inspection: Inspection? = nil, sheet: Sheet? = nil, cores: Int = 1
  ) {
    self.recognition = recognition
    self.inspection = inspection
    self.sheet = sheet
    self.cores = cores
  }
}

/// What the other process has to say; a line of JSON.
public struct InspectionResponse: Sendable, Codable {
  var summary: CaptureSummary?
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
