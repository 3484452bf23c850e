import Captures

/// Opens a capture to say what planning needs to know of it.
public typealias CaptureLook = @Sendable (Recognition) throws(CaptureError) -> CaptureSummary

extension CaptureSummary {
  /// A look in this process.
  static func look(_ registry: CaptureRegistry) -> CaptureLook {
    { (recognition) throws(CaptureError) in
      CaptureSummary(
        try registry.open(recognition),
        readerVersion: registry.readerVersion(of: recognition.family))
    }
  }
}

/// A capture to be opened by another process, and what is asked of it; a line of JSON.
public struct LookQuestion: Sendable, Codable {
  public var recognition: Recognition
  /// `nil`: only what planning needs.
  public var inspection: Inspection?
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

  public init(_ recognition: Recognition, inspection: Inspection? = nil, cores: Int = 1) {
    self.recognition = recognition
    self.inspection = inspection
    self.cores = cores
  }
}

/// What the other process has to say; a line of JSON.
public struct LookAnswer: Sendable, Codable {
  public var summary: CaptureSummary?
  public var inspection: InspectionPage?
  /// Why the capture cannot be opened.
  public var error: CaptureError?

  public init() {}
}

/// An inspection as it is printed.
public struct InspectionPage: Sendable, Codable {
  /// The JSON document, indented, with a line end.
  public var document: String
  public var text: String
  /// Why the calibration in force cannot be used.
  public var calibrationProblem: String?
  /// What somebody has to look at.
  public var warnings: Int
  public var errors: Int
  public var missingFiles: Int

  public init(
    document: String, text: String, calibrationProblem: String?, warnings: Int, errors: Int,
    missingFiles: Int
  ) {
    self.document = document
    self.text = text
    self.calibrationProblem = calibrationProblem
    self.warnings = warnings
    self.errors = errors
    self.missingFiles = missingFiles
  }
}
