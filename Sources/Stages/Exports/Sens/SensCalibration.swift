import Captures
import Core
import Engine
import Processing

/// Makes the frames of a calibrated `.sens` file: color without the distortion of its lens, and depth as the
/// color camera would have measured it on a grid of the depth picture's size. Both have the identity between
/// them, by which readers recognize such files.
struct SensCalibration {
  /// Appended to the sensor's name, as ScanNet's own program does.
  static let nameSuffix = " (calibrated)"

  private static let shape = PictureShape(undistorts: true)
  private let aligner: DepthAligner
  /// From the lens of color to the grid of depth: which pixels color shows.
  private let seen: UndistortionMap
  private let cameras: FrameCameras
  /// The lens to remove; `nil` for pictures that are undistorted already.
  private let lens: LensCamera?
  private let map: UndistortionMap?

  /// The camera of depth, for all frames.
  var depthCamera: PinholeCamera { aligner.outputIntrinsics }

  /// Throws if no lens is known: neither the capture nor a calibration file states one.
  ///
  /// Cost: the tables of an alignment, and two maps.
  init(_ source: ExportSource, _ depth: ExportPictures, color: CommonCamera) throws {
    let context = source.context
    guard var calibration = source.cameras.calibration, let stream = context.capture.depth.value
    else { throw StageDoesNotApply("no calibration: give \(context.stage).calibration") }
    let turns = context.capture.color.value?.clockwiseQuarterTurns ?? 0
    let stored = context.capture.storedColorSize.map {
      PictureSize(width: $0.width, height: $0.height)
    }
    guard !calibration.colorDistortion.isNone || context.externalFiles["calibration"] != nil
    else {
      throw StageFailure(
        "calibrated: the capture states no lens coefficients of its color camera: give "
          + "\(context.stage).calibration", cause: .input)
    }
    if let pictures = source.pictures, PublishedShape(pictures.record)?.shape.alpha != nil {
      throw StageFailure(
        "calibrated: color was undistorted with other intrinsics than those of its camera: leave color.alpha out",
        cause: .input)
    }
    // One camera for all frames, as the header states it.
    if let stored {
      calibration.colorIntrinsics = color.camera.turnedClockwise(quarterTurns: 0 - turns)
        .scaled(toWidth: stored.width, height: stored.height)
    }
    // Depth that was undistorted on its own grid is that of a pinhole.
    if let camera = PublishedShape.outputCamera(depth.record) {
      calibration.depthIntrinsics = camera
      calibration.depthDistortion = .none
    }
    aligner = try DepthAligner(
      calibration: calibration, parameters: AlignmentParameters(grid: .depth),
      depthSize: PictureSize(width: stream.width, height: stream.height), colorSize: stored,
      clockwiseQuarterTurns: turns, shape: Self.shape)
    // The color camera at the size of the pictures that are exported.
    let upright = calibration.colorDistortion.turnedClockwise(quarterTurns: turns)
    let camera = LensCamera(pinhole: color.camera, distortion: upright)
    let grid = aligner.outputIntrinsics
    seen = UndistortionMap(from: camera, to: grid, isNearest: true)
    cameras = source.cameras
    let isUndistorted = source.cameras.isUndistorted || upright.isNone
    lens = isUndistorted ? nil : camera
    map = isUndistorted ? nil : try PictureShaper.map(camera, Self.shape)
  }

  /// Whether color pictures are made anew.
  var changesColor: Bool { lens != nil }

  /// The picture of a frame without the distortion of the lens.
  func color(_ picture: ColorImage, frame: Int) throws -> ColorImage {
    guard let lens, let map else { return picture }
    var shaper = PictureShaper(Self.shape)
    let own = cameras[frame].map { lens.with($0) } ?? lens
    let found = try shaper.shaped(
      picture.rgb, width: picture.width, height: picture.height, camera: own,
      shared: (lens, map))
    return ColorImage(width: found.width, height: found.height, rgb: found.rgb)
  }

  /// The depth of a frame on the grid of `depthCamera`; 0 where color shows nothing.
  func depth(_ picture: DepthImage) throws -> DepthImage {
    var scratch = AlignmentScratch()
    var pixels: [UInt16] = []
    try aligner.align(picture.millimeters, scratch: &scratch, into: &pixels)
    for index in pixels.indices where !seen.hasSource(index) { pixels[index] = 0 }
    let grid = aligner.outputIntrinsics
    return DepthImage(width: grid.width, height: grid.height, millimeters: pixels)
  }

  /// Sentences about the cameras for `README.txt`.
  static let conventions = [
    "Camera axes: x right, y down, z forward; pixel centers at integers, no half pixel added.",
    "Color is undistorted: a pinhole with the intrinsics of the camera, black where the lens shows nothing.",
    "Depth is that of the color camera, on a grid of the depth picture's size: the extrinsics are the identity, "
      + "by which readers recognize a calibrated file. Where color shows nothing, depth is 0.",
    "The intrinsics of depth are those of color on its grid, outer borders in place (half-pixel rule); ScanNet's "
      + "program scales the principal point by (width - 1), up to half a pixel less.",
  ]
}
