import Captures
import Core
import Engine
import Processing
import SystemPackage

/// Chooses the calibration of a stage and makes its cameras; used by every stage that relates depth
/// to color.
///
/// Where color is undistorted with a calibration, that is the calibration of the run: every such stage
/// takes it (`PictureShapeParameters.followedCalibration`), so that depth has the same cameras
/// everywhere.
enum CalibrationChoice {
  static let calibration = Parameter(
    "calibration", .file, "A calibration file in place of the capture's own values.")
  static let calibrationFolder = Parameter(
    "calibrationFolder", .folder,
    "A folder of calibrations by device: DEVICE-ID.json, .txt or .yaml, or as devices.csv names them."
  )
  static let parameters =
    ParameterDescription.list(calibration, calibrationFolder)
    + PictureShapeParameters.followedCalibration

  /// Checks that the calibration file is valid and complete, not only that it exists, and that it is that
  /// of color where color is undistorted.
  static func fileProblems(
    _ paths: [StageProblem], _ parameters: ParameterValues,
    for need: CalibrationNeed = .depthAndColor
  ) -> [StageProblem] {
    let problems = paths + PictureShapeParameters.followingProblems(parameters)
    return problems.isEmpty ? contentProblems(parameters, for: need) : problems
  }

  /// Checks that the calibration file is valid and complete.
  static func contentProblems(
    _ parameters: ParameterValues, for need: CalibrationNeed = .depthAndColor
  ) -> [StageProblem] {
    let color = PictureShapeParameters.following
    let keys = [calibration] + (parameters[color.undistort] ? [color.calibration] : [])
    for key in keys {
      guard let path = parameters[key] else { continue }
      do throws(CalibrationError) {
        try CalibrationFile.check(path, for: need)
        break
      } catch {
        return [StageProblem(parameter: key.name, "\(error)")]
      }
    }
    return folderProblems(parameters)
  }

  /// Checks the table of devices in a folder of calibrations.
  static func folderProblems(_ parameters: ParameterValues) -> [StageProblem] {
    guard let folder = parameters[calibrationFolder] else { return [] }
    do throws(CalibrationError) {
      EnclosedPaths.leaveOpen(folder)
      _ = try CalibrationDevices(in: folder)
      return []
    } catch {
      return [StageProblem(parameter: calibrationFolder.name, "\(error)")]
    }
  }

  /// Why the calibration file chosen for a capture cannot be used for it, known before anything
  /// runs; `nil` if nothing is known against it. The stage then fails with this text, even if it has
  /// published an artifact.
  static func refusal(_ parameters: ParameterValues, _ capture: CaptureSummary) -> String? {
    guard let file = file(parameters, deviceID: capture.deviceID) else { return nil }
    return CalibrationFile.refusal(of: file, for: capture)?.description
  }

  /// The applicability of a stage, including that of its calibration.
  static func checked(
    _ found: Applicability, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    guard case .applies = found, let why = refusal(parameters, capture) else { return found }
    return .unreadable(why)
  }

  /// The calibration file to read: the stage's own, else that by which color is undistorted; `nil` for
  /// the capture's own values.
  static func file(_ parameters: ParameterValues, deviceID: String?) -> FilePath? {
    CalibrationSource(
      file: parameters[calibration], folder: parameters[calibrationFolder], deviceID: deviceID
    ).path ?? PictureShapeParameters.following.file(parameters, deviceID: deviceID)
  }

  /// Files whose content is part of the fingerprint.
  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    file(parameters, deviceID: capture.deviceID).map { ["calibration": $0] } ?? [:]
  }

  /// Applies to captures with depth whose calibration is complete, or replaced by a fitting file.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    let depth = Applicability(capture.state(of: .depth))
    guard case .applies = depth else { return depth }
    if capture.exports.isMirrored { return .notApplicable(ColorStream.mirrorReason) }
    let missing = capture.missingCalibration
    if missing.isEmpty || file(parameters, deviceID: capture.deviceID) != nil {
      return checked(.applies, parameters, capture)
    }
    if let why = unreadable(capture) { return .unreadable(why) }
    return .notApplicable("the calibration is incomplete: no " + missing.joined(separator: ", no "))
  }

  /// Why the file of an incomplete calibration cannot be read; `nil` if the capture states none. Some families take the
  /// size of the color camera from the pictures.
  static func unreadable(_ capture: CaptureSummary) -> String? {
    for part in [CapturePart.intrinsics, .color] {
      if case .unreadable(let why) = capture.state(of: part) { return why }
    }
    return nil
  }

  /// The cameras of the context's capture for the depth frames in a store.
  static func cameras(_ context: StageContext, _ store: FrameStore) throws -> CaptureCameras {
    let cameras = try cameras(
      context.capture, file: context.externalFiles["calibration"],
      depthSize: PictureSize(width: store.width, height: store.height))
    note(cameras.doubts, context)
    return cameras
  }

  /// Adds a warning for each doubt, once per stage.
  static func note(_ doubts: [CaptureWarning], _ context: StageContext) {
    for doubt in doubts {
      let isReported = context.warnings.warnings.contains {
        $0.code == doubt.code && $0.subject == doubt.subject
      }
      if !isReported {
        context.warnings.add(doubt)
      }
    }
  }

  /// The cameras of a capture for depth frames of the given size.
  ///
  /// - Parameter file: a calibration that replaces the capture's own values.
  static func cameras(
    _ capture: Capture, file: FilePath?, depthSize: PictureSize
  ) throws -> CaptureCameras {
    if capture.color.value?.isMirrored ?? false { throw StageFailure(ColorStream.mirrorReason) }
    let found =
      if let file {
        try CalibrationFile.read(file, for: capture, depthSize: depthSize)
      } else {
        FittingCalibration(capture.alignment ?? DepthCalibration(registered: false))
      }
    return CaptureCameras(
      calibration: found.calibration, doubts: found.doubts, isCapturesOwn: file == nil,
      depthSize: depthSize,
      colorSize: capture.storedColorSize,
      clockwiseQuarterTurns: capture.color.value?.clockwiseQuarterTurns ?? 0)
  }
}

/// The calibration that relates the depth frames of a capture to its color pictures.
struct CaptureCameras {
  var calibration: DepthCalibration
  /// Doubts about the calibration, which is used anyway.
  var doubts: [CaptureWarning]
  /// Whether it is the capture's own rather than from a file of the user.
  var isCapturesOwn: Bool
  var depthSize: PictureSize
  /// Size of color pictures before the turn; `nil` if unknown.
  var colorSize: PictureSize?
  /// The turn that makes color pictures upright.
  var clockwiseQuarterTurns: Int

  /// Samples the pictures of a color artifact, in the shape in which they were published. Throws if their cameras are
  /// others.
  func sampler(
    _ parameters: AlignmentParameters = AlignmentParameters(), of color: ArtifactRecord,
    _ stage: String
  ) throws -> ColorSampler {
    let published = PublishedShape(color)
    let sampler = try ColorSampler(
      calibration: calibration, parameters: parameters, depthSize: depthSize,
      colorSize: colorSize, clockwiseQuarterTurns: clockwiseQuarterTurns,
      shape: published?.shape ?? PictureShape())
    try published?.check(
      sampler.colorCamera, sampler.recordedDistortion, usesFile: !isCapturesOwn, of: stage)
    return sampler
  }
}

extension [CameraRescale] {
  /// The form in `artifact.json`.
  var recorded: JSONValue {
    .array(map { .string("\($0.camera): \($0.from) -> \($0.to)") })
  }
}
