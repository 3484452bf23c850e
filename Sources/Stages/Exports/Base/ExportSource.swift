import Captures
import Core
import Engine
import Media
import Processing
import SystemPackage

/// The data of a capture for exporters: pictures, depth, poses and cameras by canonical frame. All
/// refer to the pictures in `color/` (turned upright, pixel centers at integers).
struct ExportSource {
  let context: StageContext
  /// `color/`, or pictures that an inner stage made from it.
  let pictures: ExportPictures?
  let depth: ExportPictures?
  /// Which pixels of the pictures are to be used; `nil`: all.
  let masks: ExportPictures?
  let depthChoice: DepthChoice
  /// Whether the aligned depth has another grid than color, which is allowed only for start points.
  let isDepthOnOtherGrid: Bool
  /// Whether the exported depth pictures are those of a lens whose coefficients are known, on the grid of
  /// the depth camera.
  let isDepthDistorted: Bool
  let cameras: FrameCameras
  /// Width of the pictures in `color/`, in their shape; `nil` = unknown.
  let width: Int?
  let height: Int?
  /// Whether pictures were undistorted or made smaller since they were decoded.
  let isReshaped: Bool
  /// Frames whose picture has another size than the stream.
  let otherSizes: Set<Int>
  /// The frames that an inner stage has chosen; `nil` if the export chooses them.
  let chosen: ExportFrames?
  /// Set while frames are chosen whose pictures are not made yet.
  let outlook: FrameOutlook?
  private let poses: [Int: Pose]
  /// Added to the times of pictures.
  let offsetNanoseconds: Int64
  /// From the IMU to the camera of the upright pictures: by the file of Kalibr, else as phones are built.
  let cameraFromIMU: RigidTransform

  /// - Parameters:
  ///   - port: the port of the exported pictures: `color`, `jpeg` or `gray`; `nil` for none.
  ///   - outlook: describes the pictures that will be made, if frames are chosen before.
  init(
    _ context: StageContext, pictures port: String?, _ rule: DepthChoice.Rule,
    outlook: FrameOutlook? = nil
  ) throws {
    var context = context
    if context.parameters[ExportParameters.clock] == .unix, context.capture.clock.base != .unix {
      do throws(AbsoluteClock.Missing) {
        context.capture = try AbsoluteClock(context.capture).moved(context.capture)
      } catch {
        throw StageDoesNotApply("\(ExportParameters.clock.name) is unix, and \(error.rawValue)")
      }
    }
    self.context = context
    self.outlook = outlook
    chosen = try context.inputs[ExportFrames.port].map { try ExportFrames($0) }
    let capture = context.capture
    masks = try context.inputs["masks"].map(ExportPictures.init)
    pictures = try port.flatMap { context.inputs[$0] }.map(ExportPictures.init)
    if let aligned = context.inputs["aligned"] {
      depth = try ExportPictures(aligned)
      depthChoice = .aligned
    } else if let native = context.inputs["depth"] {
      depth = try ExportPictures(native)
      depthChoice = .native
    } else {
      depth = nil
      depthChoice = outlook?.depthChoice ?? .none
    }
    isDepthOnOtherGrid = Self.otherGrid(depthChoice, depth) != nil
    // The calibration also places depth on its own grid.
    let decoded = capture.color.value?.description
    let published =
      pictures.map { PublishedShape($0.record) } ?? outlook.map(\.shape)
      ?? (depthChoice == .aligned ? depth.flatMap { PublishedShape($0.record) } : nil)
    if depthChoice == .aligned { try Self.checkShapes(of: pictures, depth) }
    cameras = try FrameCameras(
      context, file: context.externalFiles["calibration"], width: decoded?.width,
      height: decoded?.height, depthChoice == .native ? .depthAndColor : .color,
      published: published, stage: pictures?.stage ?? "color")
    if let calibration = cameras.calibration, depthChoice == .native, let depth,
      PublishedShape.outputCamera(depth.record) == nil
    {
      isDepthDistorted = !calibration.effectiveDepthDistortion.isNone
      if cameras.isUndistorted, calibration.sharesCamera || isDepthDistorted,
        !context.parameters[ExportSens.calibrated]
      {
        throw Self.distorted(depth, calibration, context)
      }
    } else {
      isDepthDistorted = false
    }
    var size: (width: Int, height: Int)?
    if let width = decoded?.width, let height = decoded?.height, width > 0, height > 0 {
      size = (published?.shape ?? PictureShape()).size(width: width, height: height)
    }
    width = size?.width ?? decoded?.width
    height = size?.height ?? decoded?.height
    isReshaped = published != nil
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    if let error = capture.poses.error { throw error }
    let isMirrored = capture.color.value?.isMirrored ?? false
    poses = Dictionary(
      (isMirrored ? [] : capture.poses.value?.rows ?? []).map {
        ($0.frame, $0.pose.turnedClockwise(quarterTurns: turns))
      }
    ) { first, _ in first }
    offsetNanoseconds = try TimeOffsetChoice.nanoseconds(context)
    cameraFromIMU =
      try context.externalFiles[TimeOffsetChoice.extrinsics.name].map {
        try CameraIMUCalibration($0).cameraFromIMU(
          clockwiseQuarterTurns: turns, ofStored: capture.storedColorSize)
      } ?? RigidTransform.cameraFromIMU(clockwiseQuarterTurns: turns)
    otherSizes = try Self.otherSizes(pictures, width: width, height: height)
  }

  /// Throws if aligned depth was made for color of another shape.
  private static func checkShapes(of color: ExportPictures?, _ depth: ExportPictures?) throws {
    guard let color, let depth,
      PublishedShape(color.record)?.shape != PublishedShape(depth.record)?.shape
    else { return }
    throw StageFailure(
      "the pictures of '\(depth.stage)' were made for another size or distortion than those of "
        + "'\(color.stage)' have: run '\(depth.stage)' again with the same color.size, color.undistort "
        + "and color.alpha")
  }

  /// Depth on its own grid is that of a lens, and color is undistorted.
  private static func distorted(
    _ depth: ExportPictures, _ calibration: DepthCalibration, _ context: StageContext
  ) -> StageFailure {
    StageFailure(
      "color is undistorted and depth of \(calibration.sharesCamera ? "the same" : "another") lens is not: run it "
        + "with --set \(depth.stage).undistort=true, or set \(context.stage).depth to aligned",
      cause: .input)
  }

  /// Number of canonical frames.
  var frameCount: Int { context.capture.frames.count }

  /// Whether there are or will be color pictures.
  var hasPictures: Bool { pictures != nil || outlook?.pictures != nil }

  /// Whether any frame has or will have exported depth.
  var hasAnyDepth: Bool {
    depth.map { !$0.isEmpty } ?? outlook?.depth.map { !$0.isEmpty } ?? false
  }

  func hasPicture(_ frame: Int) -> Bool {
    pictures?.has(frame) ?? outlook?.pictures?.has(frame) ?? false
  }

  func hasDepth(_ frame: Int) -> Bool {
    depth?.has(frame) ?? outlook?.depth?.contains(frame) ?? false
  }

  /// Whether a frame has no picture only because the color stage was set to leave it out. Such a
  /// frame counts as not selected rather than lost.
  func isPictureSkipped(_ frame: Int) -> Bool {
    pictures?.isSkipped(frame) ?? outlook?.pictures?.isSkipped(frame) ?? false
  }

  func isDepthSkipped(_ frame: Int) -> Bool { depth?.isSkipped(frame) ?? false }

  /// Whether the capture has poses at all.
  var hasPoses: Bool { !poses.isEmpty }

  /// The world of the poses.
  var world: PoseWorld { context.capture.world }

  /// A description of the poses' world frame, for people.
  var worldWords: String {
    switch world {
    case .yUp: "the app's world (y up)"
    case .zUp: "the world of the scene (z up)"
    case .firstCamera: "the world of the first camera (which way is up is not known)"
    }
  }

  /// Camera to world, OpenCV axes, for the picture in `color/`.
  func pose(_ frame: Int) -> Pose? { poses[frame] }

  /// The time of a picture plus the parameter `timeOffset`; `nil` = unknown.
  func time(_ frame: Int) -> Timestamp? {
    context.capture.frames[frame].pictureTime?.advanced(byNanoseconds: offsetNanoseconds)
  }

  /// The time of the depth picture, likewise: its own, else that of the color picture.
  func depthTime(_ frame: Int) -> Timestamp? {
    context.capture.frames[frame].depthPictureTime?.advanced(byNanoseconds: offsetNanoseconds)
  }

  /// From the camera of the exported depth to that of the upright color pictures; the identity on
  /// the color grid.
  var colorFromDepth: RigidTransform {
    guard depthChoice == .native else { return .identity }
    let stored =
      cameras.calibration?.registered == true
      ? .identity : cameras.calibration?.colorFromDepth ?? .identity
    return clockwiseQuarterTurns == 0
      ? stored
      : RigidTransform.turnedFromStored(clockwiseQuarterTurns: clockwiseQuarterTurns) * stored
  }

  /// Whether the transform from exported depth to color is known.
  var isColorFromDepthKnown: Bool {
    depthChoice != .native || cameras.calibration?.registered == true
      || cameras.calibration?.colorFromDepth != nil
  }

  /// The camera of the exported depth pictures, given that of color: its own, or, if they share one
  /// camera, that of color on the depth grid. `nil` if unknown.
  func depthCamera(color: PinholeCamera) -> PinholeCamera? {
    guard depthChoice == .native, let stream = context.capture.depth.value else { return color }
    if let depth, let own = PublishedShape.outputCamera(depth.record) { return own }
    if let own = cameras.calibration?.depthIntrinsics { return own }
    guard cameras.calibration?.registered == true else { return nil }
    // Depth pictures are not turned.
    return color.turnedClockwise(quarterTurns: 0 - clockwiseQuarterTurns)
      .scaled(toWidth: stream.width, height: stream.height)
  }

  /// The turn that made the pictures of `color/` upright.
  private var clockwiseQuarterTurns: Int {
    context.capture.color.value?.clockwiseQuarterTurns ?? 0
  }

  /// The size of the exported depth pictures.
  var depthSize: (width: Int, height: Int)? {
    switch depthChoice {
    case .none: nil
    case .native: context.capture.depth.value.map { ($0.width, $0.height) }
    case .aligned: width.flatMap { width in height.map { (width, $0) } }
    }
  }

  /// The grid of aligned depth if it differs from that of color.
  private static func otherGrid(_ choice: DepthChoice, _ depth: ExportPictures?) -> String? {
    guard choice == .aligned, case .string(let grid)? = depth?.record.parameters["grid"],
      grid != "color"
    else { return nil }
    return grid
  }

  /// Checks the grid, for formats whose depth pictures must have the color grid.
  ///
  /// - Throws: an error that names the parameter to change.
  func checkGrid() throws {
    guard let depth, let grid = Self.otherGrid(depthChoice, depth) else { return }
    throw StageFailure(
      "the pictures of '\(depth.stage)' lie on another grid than color (\(depth.stage).grid is \(grid)): "
        + "run it again with --set \(depth.stage).grid=color")
  }

  /// Frames of other sizes, read from the files' headers, and only if the color stage has found
  /// other sizes.
  private static func otherSizes(
    _ pictures: ExportPictures?, width: Int?, height: Int?
  ) throws -> Set<Int> {
    guard let pictures, let width, let height, pictures.haveOtherSizes else { return [] }
    return try pictures.framesOfOtherSize(width: width, height: height)
  }
}

extension ExportPictures {
  /// The key under which inner stages record that the color stage found pictures of other sizes.
  static let otherSizesKey = "otherSizes"

  /// Whether the color stage found pictures of another size than the stream's.
  var haveOtherSizes: Bool {
    record.recorded[Self.otherSizesKey] == .bool(true)
      || record.warnings.contains { $0.code == .sizeMismatch && $0.subject == "color" }
  }

  /// What an inner stage that re-encodes these pictures records about their sizes.
  var sizesToRecord: [String: JSONValue] {
    haveOtherSizes ? [Self.otherSizesKey: .bool(true)] : [:]
  }

  /// Cost: reading every file.
  fileprivate func framesOfOtherSize(width: Int, height: Int) throws -> Set<Int> {
    var frames: Set<Int> = []
    for frame in self.frames {
      let head = try StillImage.header(file(frame))
      if (head.storedWidth, head.storedHeight) != (width, height) { frames.insert(frame) }
    }
    return frames
  }
}

/// What is known about the pictures of an export before any is made.
struct FrameOutlook {
  /// Color pictures.
  struct Pictures {
    /// Frames with a picture, counted when the capture was opened.
    let counted: Set<Int>
    /// The frames among these that the color stage makes.
    let selection: FrameSelection

    func has(_ frame: Int) -> Bool {
      counted.contains(frame) && selection.contains(frame)
    }

    func isSkipped(_ frame: Int) -> Bool {
      counted.contains(frame) && !selection.contains(frame)
    }
  }

  /// `nil` if the export takes no pictures.
  let pictures: Pictures?
  /// Frames with a depth record; `nil` if the export takes no depth.
  let depth: Range<Int>?
  let depthChoice: DepthChoice
  /// The shape that the color pictures will have; `nil` as recorded by the camera.
  let shape: PublishedShape?
  /// Looks at the pictures of frames; those that cannot be decoded are missing in the result.
  let look: (@Sendable (Set<Int>) throws -> [Int: PictureLook])?

  /// Frames of a color stream for which a picture was counted.
  static func counted(_ color: ColorStream, frames: Int) -> Set<Int> {
    if let frameOfPicture = color.frameOfPicture { return Set(frameOfPicture) }
    return Set(0..<max(0, min(color.description.frames ?? frames, frames)))
  }
}
