import Captures
import Geometry
import Pipeline
import Processing
import Stages

/// The camera of each picture in `color/`, and its lens.
package struct FrameCameras: Sendable {
  /// A camera from a file of the user, for all frames.
  private let fixed: PinholeCamera?
  private let rows: [Int: PinholeCamera]
  /// Distortion of the color lens in OpenCV's terms; `nil` = unknown.
  package let distortion: LensDistortion?
  /// The calibration that relates depth to color: of the file, else of the capture.
  package let calibration: DepthCalibration?

  /// - Parameters:
  ///   - width, height: size of the pictures in `color/`; rows for another size count as unknown.
  ///   - need: parts that a file of the user must have.
  package init(
    _ context: StageContext, width: Int?, height: Int?, _ need: CalibrationNeed
  ) throws {
    let capture = context.capture
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    if capture.color.value?.isMirrored == true {
      // There is no camera model for such pictures.
      (fixed, rows, distortion, calibration) = (nil, [:], nil, nil)
      return
    }
    if let file = context.externalFiles["calibration"] {
      let found = try CalibrationFile.read(file, for: capture, need)
      CalibrationChoice.note(found.doubts, context)
      var calibration = found.calibration
      if need == .depthAndColor {
        calibration.depthIntrinsics = try Self.fitted(
          calibration.depthIntrinsics, .depth, capture.depth.value.map { ($0.width, $0.height) })
      }
      self.calibration = calibration
      fixed = try Self.fitted(calibration.colorIntrinsics, .color, capture.storedColorSize)?
        .turnedClockwise(quarterTurns: turns)
      rows = [:]
      distortion =
        calibration.colorDistortion.isNone
        ? nil : calibration.colorDistortion.turnedClockwise(quarterTurns: turns)
      return
    }
    if let error = capture.intrinsics.error { throw error }
    calibration = capture.alignment
    fixed = nil
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
    self.rows = rows
    let lens = capture.alignment?.colorDistortion ?? .none
    distortion = lens.isNone ? nil : lens.turnedClockwise(quarterTurns: turns)
  }

  /// The camera for pictures of a size; throws for another aspect, as the alignment does.
  private static func fitted(
    _ camera: PinholeCamera?, _ role: CameraRole, _ size: (width: Int, height: Int)?
  ) throws(AlignmentError) -> PinholeCamera? {
    guard let camera, let size else { return camera }
    guard let fitted = camera.fitted(toWidth: size.width, height: size.height) else {
      throw .sizeMismatch(
        camera: role, calibration: PictureSize(width: camera.width, height: camera.height),
        picture: PictureSize(width: size.width, height: size.height))
    }
    return fitted
  }

  /// The camera of a frame: pixel centers at integers, size of the pictures; `nil` = unknown.
  package subscript(frame: Int) -> PinholeCamera? { fixed ?? rows[frame] }

  /// Whether no frame has a camera.
  package var isEmpty: Bool { fixed == nil && rows.isEmpty }
}

extension LensDistortion {
  /// The lens of the picture after a clockwise turn: the tangential terms are a vector and turn
  /// along.
  fileprivate func turnedClockwise(quarterTurns: Int) -> LensDistortion {
    let turns = ((quarterTurns % 4) + 4) % 4
    return (0..<turns).reduce(self) { lens, _ in
      var turned = lens
      // (p2, p1) is the vector along (x, y); a clockwise turn makes x' = -y, y' = x.
      (turned.p2, turned.p1) = (0 - lens.p1, lens.p2)
      return turned
    }
  }
}
