import Captures
import Core
import SystemPackage

/// The output of `inspect --json`: the capture's document and, if a calibration option is given,
/// the effective calibration.
public struct InspectionDocument: Encodable, Sendable {
  private let document: CaptureDocument
  private let asked: CalibrationSummary?

  public init(_ document: CaptureDocument, asked: CalibrationSummary?) {
    self.document = document
    self.asked = asked
  }

  public func encode(to encoder: any Encoder) throws {
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
