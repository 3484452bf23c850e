import Captures
import Engine

extension ExportMCAP {
  /// Applies to captures with anything that has a time: a picture, a sample, a pose. What exists
  /// must be readable.
  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    var read: [CapturePart] = [.frames, .color, .poses, .intrinsics, .imu]
    if parameters.flag("personal") { read.append(.geo) }
    for part in read {
      if case .unreadable(let why) = capture.state(of: part) { return .unreadable(why) }
    }
    if let reason = MotionUnits.obstacle(capture.exports.doubtfulSensors ?? [], parameters) {
      return .notApplicable(reason)
    }
    if capture.state(of: .frames) == .present {
      let found = ExportNeeds.cameraToIMU.applicability(name, parameters, capture)
      guard case .applies = found else { return found }
    }
    let reasons = lacking(parameters, capture, capture.exports)
    guard reasons.isEmpty else {
      return .notApplicable("nothing with a time: " + reasons.joined(separator: ", "))
    }
    return CalibrationChoice.checked(.applies, parameters, capture)
  }

  /// Missing streams; empty as soon as anything has a time.
  private static func lacking(
    _ parameters: ParameterValues, _ capture: CaptureSummary, _ facts: ExportFacts
  ) -> [String] {
    if facts.timedPictures > 0 { return [] }
    var reasons: [String] = []
    if case .absent = capture.state(of: .color) {
      // Frames are then those of depth or poses.
      let isThere = [CapturePart.depth, .poses].contains { capture.state(of: $0) == .present }
      if isThere, capture.state(of: .frames) == .present { return [] }
      reasons.append("no color")
    } else {
      reasons.append("no picture has a time")
    }
    guard let missing = IMUSources.missing(Set(facts.samples.keys)) else { return [] }
    reasons.append(missing)
    if parameters.flag("personal"), facts.hasPosition { return [] }
    return reasons
  }
}
