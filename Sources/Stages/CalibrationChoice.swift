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

  /// Why the file that is chosen for a capture cannot be used for it, before anything runs: the stage fails
  /// with this text, also where an earlier version has published what it made of it. `nil`: nothing speaks
  /// against it.
  package static func refusal(_ parameters: ParameterValues, _ capture: CaptureSummary) -> String? {
    guard let file = file(parameters, deviceID: capture.deviceID) else { return nil }
    return CalibrationFile.refusal(of: file, for: capture)?.description
  }

  /// Whether a stage that applies also has a calibration that does.
  package static func checked(
    _ found: Applicability, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    guard case .applies = found, let why = refusal(parameters, capture) else { return found }
    return .unreadable(why)
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

  /// Applies to captures with depth whose calibration is complete, or replaced by a file that is for them.
  package static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = Applicability(capture.state(of: .depth))
    guard case .applies = depth else { return depth }
    let missing = capture.missingCalibration
    if missing.isEmpty || file(parameters, deviceID: capture.deviceID) != nil {
      return checked(.applies, parameters, capture)
    }
    return .notApplicable("the calibration is incomplete: no " + missing.joined(separator: ", no "))
  }

  /// The cameras of the context's capture for depth frames of a store.
  package static func cameras(_ context: StageContext, _ store: FrameStore) throws -> CaptureCameras
  {
    let cameras = try cameras(
      context.capture, file: context.externalFiles["calibration"],
      depthSize: PictureSize(width: store.width, height: store.height))
    note(cameras.doubts, context)
    return cameras
  }

  /// Tells doubts, each once for a stage.
  package static func note(_ doubts: [CalibrationDoubt], _ context: StageContext) {
    for doubt in doubts {
      let isTold = context.warnings.warnings.contains {
        $0.code == .calibrationSuspect && $0.subject == doubt.subject
      }
      if !isTold { context.warnings.add(.calibrationSuspect, doubt.subject, doubt.message) }
    }
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
    let found =
      if let file {
        try CalibrationFile.read(
          file, for: capture, depthSize: (depthSize.width, depthSize.height))
      } else {
        FittingCalibration(capture.alignment ?? DepthCalibration(registered: false))
      }
    return CaptureCameras(
      calibration: found.calibration, doubts: found.doubts, isCapturesOwn: file == nil,
      depthSize: depthSize,
      colorSize: capture.storedColorSize.map { PictureSize(width: $0.width, height: $0.height) },
      clockwiseQuarterTurns: capture.color.value?.clockwiseQuarterTurns ?? 0)
  }
}

/// What relates the depth frames of a capture to its color pictures.
package struct CaptureCameras: Sendable {
  package var calibration: DepthCalibration
  /// What speaks against it, though it is used.
  package var doubts: [CalibrationDoubt]
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
