import Captures
import Geometry
import Pipeline
import Processing
import Storage
import SystemPackage

/// Which calibration a stage uses, and the cameras that follow from it: the same for every stage that
/// relates depth to color.
enum CalibrationChoice {
  static let parameters: [ParameterDescription] = [
    ParameterDescription(
      "calibration", .file, "A calibration file in place of the capture's own values."),
    ParameterDescription(
      "calibrationFolder", .folder,
      "A folder of calibrations by device: DEVICE-ID.json, .txt or .yaml."),
  ]

  /// The file to read, if it is not the capture's own values.
  static func file(_ parameters: ParameterValues, deviceID: String?) -> FilePath? {
    CalibrationSource(
      file: parameters.text("calibration").map { FilePath($0) },
      folder: parameters.text("calibrationFolder").map { FilePath($0) }, deviceID: deviceID
    ).path
  }

  /// Files that count into the fingerprint.
  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    file(parameters, deviceID: capture.deviceID).map { ["calibration": $0] } ?? [:]
  }

  /// Applies to captures with depth whose calibration is complete, or replaced by a file.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = Applicability(capture.state(of: .depth))
    guard case .applies = depth else { return depth }
    let missing = capture.missingCalibration
    if missing.isEmpty || file(parameters, deviceID: capture.deviceID) != nil { return .applies }
    return .notApplicable("the calibration is incomplete: no " + missing.joined(separator: ", no "))
  }

  /// The cameras of the context's capture for depth frames of a store.
  static func cameras(_ context: StageContext, _ store: FrameStore) throws -> CaptureCameras {
    if context.capture.color.value?.isMirrored ?? false {
      throw StageFailure(
        "the video's display matrix mirrors its pictures: no camera takes such pictures, so that "
          + "depth cannot be brought to them")
    }
    let depthSize = PictureSize(width: store.width, height: store.height)
    let colorSize = storedColorSize(context.capture)
    let calibration = try calibration(context, depthSize: depthSize, colorSize: colorSize)
    if let suspicion = calibration.suspicion {
      context.warnings.add(.calibrationSuspect, "calibration", suspicion)
    }
    return CaptureCameras(
      calibration: calibration, isCapturesOwn: context.externalFiles["calibration"] == nil,
      depthSize: depthSize,
      colorSize: colorSize,
      clockwiseQuarterTurns: context.capture.color.value?.clockwiseQuarterTurns ?? 0)
  }

  private static func calibration(
    _ context: StageContext, depthSize: PictureSize, colorSize: PictureSize?
  ) throws -> DepthCalibration {
    if let file = context.externalFiles["calibration"] {
      return try CalibrationFile.read(
        file, depthSize: (depthSize.width, depthSize.height),
        colorSize: colorSize.map { ($0.width, $0.height) })
    }
    return context.capture.alignment ?? DepthCalibration(registered: false)
  }

  /// The size of the color pictures before the turn that makes them upright.
  private static func storedColorSize(_ capture: Capture) -> PictureSize? {
    guard let color = capture.color.value, let width = color.description.width,
      let height = color.description.height
    else { return nil }
    return color.clockwiseQuarterTurns % 2 == 0
      ? PictureSize(width: width, height: height) : PictureSize(width: height, height: width)
  }
}

/// What relates the depth frames of a capture to its color pictures.
struct CaptureCameras: Sendable {
  var calibration: DepthCalibration
  /// Whether it is what the capture states, no file of the user's.
  var isCapturesOwn: Bool
  var depthSize: PictureSize
  /// Before the turn; `nil` where the capture does not know it.
  var colorSize: PictureSize?
  /// The turn that makes color pictures upright.
  var clockwiseQuarterTurns: Int
}

extension [CameraRescale] {
  /// As `artifact.json` records them.
  var recorded: JSONValue {
    .array(map { .string("\($0.camera): \($0.from) -> \($0.to)") })
  }
}
