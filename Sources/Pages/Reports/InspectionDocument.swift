import Captures
import Core
import Engine
import SystemPackage

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
    let document = CaptureDocument(
      capture, found: scan.warnings, encodings: scan.encodings,
      measured: asksForCalibration ? summary?.members ?? [:] : [:])
    let json = try JSONText.pretty(document)
    let text = InspectionText.text(
      capture, found: scan.warnings, encodings: scan.encodings,
      calibration: summary?.lines ?? ["the file asked for cannot be used"])
    self.init(
      document: String(decoding: json, as: UTF8.self), text: text, calibrationProblem: problem,
      of: capture, found: capture.warnings.merged(with: scan.warnings))
  }
}

extension CalibrationSummary {
  /// The effective calibration as a member of `inspect --json`.
  var members: [String: any Encodable & Sendable] {
    let source =
      switch source {
      case .file: "file"
      case .deviceFile: "device-file"
      case .capture: "capture"
      }
    return [
      "calibrationInForce": [
        "source": source, "file": self.source.path?.shown, "alignment": calibration?.document,
      ] as JSONObject
    ]
  }
}
