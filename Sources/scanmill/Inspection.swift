import Captures
import Engine
import Core
import Pages
import SystemPackage

/// Creates the output of `inspect` for one capture, in the process that opens it.
enum Inspection {
  static func page(
    of capture: Capture, _ asked: InspectionRequest.Inspection, _ budget: CoreBudget
  ) throws -> InspectionPage {
    let scan = asked.isQuick ? StreamScan() : try StreamScan(capture, budget: budget)
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
      InspectionDocument(document, asked: asksForCalibration ? summary : nil))
    let text = InspectionText.text(
      capture, found: scan.warnings, encodings: scan.encodings,
      calibration: summary?.lines ?? ["the file asked for cannot be used"])
    return InspectionPage(
      document: String(decoding: json, as: UTF8.self), text: text, calibrationProblem: problem,
      warnings: capture.warnings.merged(with: scan.warnings).count { $0.severity == .warning },
      errors: capture.errors.count, missingFiles: capture.completeness.missing.count)
  }
}
