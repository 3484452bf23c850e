import ArgumentParser
import Captures
import FoundationEssentials
import Parallel
import Pipeline
import Reports
import Runner
import Storage
import SystemPackage

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "What is in a capture, counted not believed, and what is wrong with it.")

  @Argument(help: "Captures, or folders of captures.")
  var captures: [String]

  @Flag(help: "Print JSON: one object for one capture, a list under 'captures' for several.")
  var json = false

  @Flag(help: "Do not decode depth and confidence: faster, and blind for damage inside records.")
  var quick = false

  @Option(
    help: ArgumentHelp(
      "Say what this calibration file would do in place of the capture's own.", valueName: "file"))
  var calibration: String?

  @Option(
    help: ArgumentHelp(
      "Say which calibration a folder of DEVICE-ID files would put in place.", valueName: "dir"))
  var calibrationFolder: String?

  func run() throws {
    let finder = CaptureFinder(Toolbox.captures)
    let findings = captures.map { finder.find(FilePath(text: $0)) }
    let declined = findings.flatMap(\.failures)
    for finding in declined { Console.error("error: \(finding.declined ?? "no capture")") }
    let recognitions = findings.flatMap(\.captures)
    var documents: [InspectionDocument] = []
    var texts: [String] = []
    var hasFailed = false
    let budget = CoreBudget(cores: ProcessInfo.processInfo.activeProcessorCount)
    for recognition in recognitions {
      do {
        let capture = try Toolbox.captures.open(recognition)
        let scan = quick ? StreamScan() : try StreamScan(capture, budget: budget)
        let summary = summary(of: capture)
        if summary == nil { hasFailed = true }
        documents.append(
          InspectionDocument(
            CaptureDocument(capture, found: scan.warnings, encodings: scan.encodings),
            asked: asksForCalibration ? summary : nil))
        texts.append(
          InspectionText.text(
            capture, found: scan.warnings, encodings: scan.encodings,
            calibration: summary?.lines ?? ["the file asked for cannot be used"]))
      } catch let error as CaptureError {
        Console.error("error: \(error)")
        hasFailed = true
      }
    }
    if documents.isEmpty { throw Exit(code: ExitStatus.noCapture) }
    if json {
      let isOne = recognitions.count == 1
      Console.print(
        json: isOne ? try JSONText.pretty(documents[0]) : try JSONText.pretty(Several(documents)))
    } else {
      Console.print(texts.joined(separator: "\n"))
    }
    if hasFailed || !declined.isEmpty {
      throw Exit(code: ExitStatus.jobFailed)
    }
  }

  private var asksForCalibration: Bool { calibration != nil || calibrationFolder != nil }

  /// `nil`, and a line on standard error, when the file in force cannot be used.
  private func summary(of capture: Capture) -> CalibrationSummary? {
    do throws(CalibrationError) {
      return try CalibrationSummary(
        capture, file: calibration.map { FilePath(text: $0) },
        folder: calibrationFolder.map { FilePath(text: $0) })
    } catch {
      Console.error("error: \(error)")
      return nil
    }
  }

  private struct Several: Encodable {
    var schema = 1
    var captures: [InspectionDocument]
    init(_ captures: [InspectionDocument]) { self.captures = captures }
  }
}
