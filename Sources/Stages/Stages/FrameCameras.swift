import Captures
import Core
import Engine
import Processing
import SystemPackage

extension Capture {
  /// As recorded: for the pictures before any turn.
  var posesByFrame: [Int: Pose] {
    Dictionary((poses.value?.rows ?? []).map { ($0.frame, $0.pose) }) { first, _ in first }
  }
}

/// The camera of each published color picture, and its lens.
struct FrameCameras {
  /// One camera for all frames, from a file of the user.
  private let fixed: PinholeCamera?
  private let rows: [Int: PinholeCamera]
  /// The cameras before the pictures got their shape, if that is another one.
  private let recordedRows: [Int: PinholeCamera]
  /// Distortion of the pictures in OpenCV's terms; `nil` = unknown, or removed.
  let distortion: LensDistortion?
  /// Whether the pictures are those of a pinhole because their distortion was removed.
  let isUndistorted: Bool
  /// The calibration that relates depth to color: of the file, else of the capture.
  let calibration: DepthCalibration?

  /// - Parameters:
  ///   - file: a calibration of the user in place of the capture's own.
  ///   - width, height: size of the upright pictures before they got their shape; rows for another size
  ///     count as unknown.
  ///   - need: parts that the file must have.
  ///   - published: the shape of the pictures; `nil` as recorded by the camera.
  ///   - stage: the stage that made the pictures, for messages.
  init(
    _ context: StageContext, file: FilePath?, width: Int?, height: Int?, _ need: CalibrationNeed,
    published: PublishedShape? = nil, stage: String = "color"
  ) throws {
    let capture = context.capture
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    let shape = published?.shape ?? PictureShape()
    isUndistorted = shape.undistorts
    if capture.color.value?.isMirrored == true {
      // There is no camera model for such pictures.
      (fixed, rows, recordedRows, distortion, calibration) = (nil, [:], [:], nil, nil)
      return
    }
    if let file {
      let found = try CalibrationFile.read(file, for: capture, need)
      CalibrationChoice.note(found.doubts, context)
      var calibration = found.calibration
      if need == .depthAndColor {
        calibration.depthIntrinsics = try Self.fitted(
          calibration.depthIntrinsics, .depth, capture.depth.value?.size)
      }
      self.calibration = calibration
      let lens = calibration.colorDistortion.turnedClockwise(quarterTurns: turns)
      let recorded = try Self.fitted(
        calibration.colorIntrinsics, .color, capture.storedColorSize)?
        .turnedClockwise(quarterTurns: turns)
      let shaped = try recorded.map { try Self.shaped($0, lens, shape) }
      try published?.check(shaped, lens, usesFile: true, of: stage)
      fixed = shaped
      rows = [:]
      recordedRows = [:]
      distortion = shape.undistorts || lens.isNone ? nil : lens
      return
    }
    if let error = capture.intrinsics.error { throw error }
    calibration = capture.alignment
    let lens = (capture.alignment?.colorDistortion ?? .none).turnedClockwise(quarterTurns: turns)
    distortion = shape.undistorts || lens.isNone ? nil : lens
    var rows: [Int: PinholeCamera] = [:]
    for row in capture.intrinsics.value ?? [] where rows[row.frame] == nil {
      var row = row
      row.width = row.width ?? width
      row.height = row.height ?? height
      guard let rowWidth = row.width, let rowHeight = row.height else { continue }
      if let width, let height, (rowWidth, rowHeight) != (width, height) { continue }
      let camera = row.turnedClockwise(quarterTurns: turns)
      guard [camera.fx, camera.fy, camera.cx, camera.cy].allSatisfy(\.isFinite), camera.fx > 0,
        camera.fy > 0
      else { continue }
      rows[row.frame] = PinholeCamera(
        width: rowWidth, height: rowHeight, fx: camera.fx, fy: camera.fy, cx: camera.cx,
        cy: camera.cy)
    }
    fixed = published?.camera
    if shape.isAsRecorded {
      (self.rows, recordedRows) = (rows, [:])
    } else {
      // One of the frames with the same camera is shaped.
      var known: [PinholeCamera: PinholeCamera] = [:]
      self.rows = try rows.mapValues { recorded in
        if let shaped = known[recorded] { return shaped }
        let shaped = try Self.shaped(recorded, lens, shape)
        known[recorded] = shaped
        return shaped
      }
      recordedRows = rows
    }
  }

  private static func shaped(
    _ camera: PinholeCamera, _ lens: LensDistortion, _ shape: PictureShape
  ) throws(AlignmentError) -> PinholeCamera {
    if shape.isAsRecorded { return camera }
    guard let shaped = shape.camera(from: LensCamera(pinhole: camera, distortion: lens)) else {
      throw .noUndistortedCamera(alpha: shape.alpha ?? 0)
    }
    return shaped.pinhole
  }

  /// The camera for pictures of a size; throws for another aspect, as the alignment does.
  private static func fitted(
    _ camera: PinholeCamera?, _ role: CameraRole, _ size: PictureSize?
  ) throws(AlignmentError) -> PinholeCamera? {
    guard let camera, let size else { return camera }
    guard let fitted = camera.fitted(toWidth: size.width, height: size.height) else {
      throw .sizeMismatch(camera: role, calibration: PictureSize(camera), picture: size)
    }
    return fitted
  }

  /// The camera of a frame: pixel centers at integers, size of the pictures; `nil` = unknown.
  subscript(frame: Int) -> PinholeCamera? { fixed ?? rows[frame] }

  /// Whether no frame has a camera.
  var isEmpty: Bool { fixed == nil && rows.isEmpty }

  /// The camera of all frames, or the median of theirs; `nil` if no frame has one.
  var common: PinholeCamera? {
    fixed ?? PinholeCamera(medianOf: rows.keys.sorted().compactMap { rows[$0] })
  }

  /// The camera of a frame before its picture got its shape; `nil` = unknown.
  func recorded(_ frame: Int) -> PinholeCamera? { recordedRows[frame] ?? self[frame] }
}
