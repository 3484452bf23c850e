import Captures
import Geometry
import Pipeline
import Processing
import Storage
import SystemPackage

/// Which calibration a stage uses, and the cameras that follow from it: the same for every stage that
/// relates depth to color.
package enum CalibrationChoice {
  package static let parameters: [ParameterDescription] = [
    ParameterDescription(
      "calibration", .file, "A calibration file in place of the capture's own values."),
    ParameterDescription(
      "calibrationFolder", .folder,
      "A folder of calibrations by device: DEVICE-ID.json, .txt or .yaml."),
  ]

  /// A calibration file is one, and whole, not only there.
  package static func fileProblems(
    _ paths: [StageProblem], _ parameters: ParameterValues,
    for need: CalibrationNeed = .depthAndColor
  ) -> [StageProblem] {
    guard paths.isEmpty, let path = parameters.text("calibration") else { return paths }
    do throws(CalibrationError) {
      try CalibrationFile.check(FilePath(path), for: need)
      return []
    } catch {
      return [StageProblem(parameter: "calibration", "\(error)")]
    }
  }

  /// The file to read, if it is not the capture's own values.
  package static func file(_ parameters: ParameterValues, deviceID: String?) -> FilePath? {
    CalibrationSource(
      file: parameters.text("calibration").map { FilePath(text: $0) },
      folder: parameters.text("calibrationFolder").map { FilePath(text: $0) }, deviceID: deviceID
    ).path
  }

  /// Files that count into the fingerprint.
  package static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    file(parameters, deviceID: capture.deviceID).map { ["calibration": $0] } ?? [:]
  }

  /// Applies to captures with depth whose calibration is complete, or replaced by a file.
  package static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = Applicability(capture.state(of: .depth))
    guard case .applies = depth else { return depth }
    let missing = capture.missingCalibration
    if missing.isEmpty || file(parameters, deviceID: capture.deviceID) != nil { return .applies }
    return .notApplicable("the calibration is incomplete: no " + missing.joined(separator: ", no "))
  }

  /// The cameras of the context's capture for depth frames of a store.
  package static func cameras(_ context: StageContext, _ store: FrameStore) throws -> CaptureCameras
  {
    let cameras = try cameras(
      context.capture, file: context.externalFiles["calibration"],
      depthSize: PictureSize(width: store.width, height: store.height))
    if let suspicion = cameras.calibration.suspicion {
      context.warnings.add(.calibrationSuspect, "calibration", suspicion)
    }
    return cameras
  }

  /// The cameras of a capture for depth frames of a size.
  ///
  /// - Parameter file: a calibration in place of the capture's own values.
  package static func cameras(
    _ capture: Capture, file: FilePath?, depthSize: PictureSize
  ) throws -> CaptureCameras {
    if capture.color.value?.isMirrored ?? false {
      throw StageFailure(
        "the video's display matrix mirrors its pictures: no camera takes such pictures, so "
          + "depth cannot be aligned with them")
    }
    let colorSize = storedColorSize(capture)
    let calibration =
      if let file {
        try CalibrationFile.read(
          file, depthSize: (depthSize.width, depthSize.height),
          colorSize: colorSize.map { ($0.width, $0.height) })
      } else {
        capture.alignment ?? DepthCalibration(registered: false)
      }
    return CaptureCameras(
      calibration: calibration, isCapturesOwn: file == nil, depthSize: depthSize,
      colorSize: colorSize,
      clockwiseQuarterTurns: capture.color.value?.clockwiseQuarterTurns ?? 0)
  }

  /// The size of the color pictures before the turn that makes them upright.
  package static func storedColorSize(_ capture: Capture) -> PictureSize? {
    guard let color = capture.color.value, let width = color.description.width,
      let height = color.description.height
    else { return nil }
    return color.clockwiseQuarterTurns % 2 == 0
      ? PictureSize(width: width, height: height) : PictureSize(width: height, height: width)
  }
}

/// What relates the depth frames of a capture to its color pictures.
package struct CaptureCameras: Sendable {
  package var calibration: DepthCalibration
  /// Whether it is what the capture states, no file of the user's.
  package var isCapturesOwn: Bool
  package var depthSize: PictureSize
  /// Before the turn; `nil` where the capture does not know it.
  package var colorSize: PictureSize?
  /// The turn that makes color pictures upright.
  package var clockwiseQuarterTurns: Int
}

extension [CameraRescale] {
  /// As `artifact.json` records them.
  var recorded: JSONValue {
    .array(map { .string("\($0.camera): \($0.from) -> \($0.to)") })
  }
}
