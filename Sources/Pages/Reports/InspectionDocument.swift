import Captures
import Core
import Engine
import SystemPackage

/// The output of `inspect --json`: the capture's document and, if a calibration option is given,
/// the effective calibration.
struct InspectionDocument: Encodable, Sendable {
  let document: CaptureDocument
  let asked: CalibrationSummary?

  func encode(to encoder: any Encoder) throws {
    try document.encode(to: encoder)
    guard let asked else { return }
    var object = encoder.container(keyedBy: Key.self)
    var inForce = object.nestedContainer(keyedBy: Key.self, forKey: .calibrationInForce)
    try inForce.encode(Self.name(asked.source), forKey: .source)
    try inForce.encode(asked.source.path?.shown, forKey: .file)
    try inForce.encode(asked.calibration.map(AlignmentDocument.init), forKey: .alignment)
  }

  private static func name(_ source: CalibrationSource) -> String {
    switch source {
    case .file: "file"
    case .deviceFile: "device-file"
    case .capture: "capture"
    }
  }

  private enum Key: String, CodingKey {
    case calibrationInForce, source, file, alignment
  }
}

extension InspectionPage {
  /// The output of `inspect` for one capture, made in the process that opens it.
  public init(_ capture: Capture, _ asked: InspectionRequest) throws {
    var scan = StreamScan()
    if case .inspection(isQuick: false) = asked.question {
      scan = try StreamScan(capture, budget: CoreBudget(cores: asked.cores))
    }
    var problem: String?
    var summary: CalibrationSummary?
    do throws(CalibrationError) {
      summary = try CalibrationSummary(
        capture, file: asked.calibration.map { FilePath(text: $0) },
        folder: asked.calibrationFolder.map { FilePath(text: $0) })
    } catch {
      problem = error.description
    }
    let asksForCalibration = asked.calibration != nil || asked.calibrationFolder != nil
    let document = CaptureDocument(capture, found: scan.warnings, encodings: scan.encodings)
    let json = try JSONText.pretty(
      InspectionDocument(document: document, asked: asksForCalibration ? summary : nil))
    let text = InspectionText.text(
      capture, found: scan.warnings, encodings: scan.encodings,
      calibration: summary?.lines ?? ["the file asked for cannot be used"])
    self.init(
      document: String(decoding: json, as: UTF8.self), text: text, calibrationProblem: problem,
      of: capture, found: capture.warnings.merged(with: scan.warnings))
  }
}
