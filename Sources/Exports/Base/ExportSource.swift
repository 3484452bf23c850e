import Captures
import Codecs
import Geometry
import Pipeline
import Stages
import Storage
import SystemPackage

/// A capture as exporters see it: pictures, depth, poses and cameras by canonical frame, all of the pictures
/// as they lie in `color/` (turned upright, pixel centers at integers).
package struct ExportSource: Sendable {
  package let context: StageContext
  /// `color/`, or what an inner stage made of it.
  package let pictures: ExportPictures?
  package let depth: ExportPictures?
  package let depthChoice: DepthChoice
  /// Whether the aligned depth lies on another grid than color, as only start points may.
  package let isDepthOnOtherGrid: Bool
  package let cameras: FrameCameras
  /// Size of the pictures in `color/`; `nil` = not known.
  package let width: Int?
  package let height: Int?
  /// Frames whose picture has another size than the stream.
  package let otherSizes: Set<Int>
  /// The frames that an inner stage has chosen; `nil`: the export chooses itself.
  package let chosen: ChosenFrames?
  /// Set while frames are chosen whose pictures are not made yet.
  package let outlook: FrameOutlook?
  private let poses: [Int: Pose]
  private let offsetNanoseconds: Int64

  /// - Parameters:
  ///   - port: whose pictures are exported: `color`, `jpeg` or `gray`; `nil`: none.
  ///   - outlook: what will be there, for choosing frames before anything is made of them.
  package init(
    _ context: StageContext, pictures port: String?, _ rule: DepthChoice.Rule,
    outlook: FrameOutlook? = nil
  ) throws {
    self.context = context
    self.outlook = outlook
    chosen = try context.inputs[ChosenFrames.port].map(ChosenFrames.init)
    let capture = context.capture
    pictures = try port.flatMap { context.inputs[$0] }.map(ExportPictures.init)
    width = capture.color.value?.description.width
    height = capture.color.value?.description.height
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
    // Depth on its own grid is placed by the calibration, too.
    cameras = try FrameCameras(
      context, width: width, height: height, depthChoice == .native ? .depthAndColor : .color)
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    if let error = capture.poses.error { throw error }
    let isMirrored = capture.color.value?.isMirrored ?? false
    poses = Dictionary(
      (isMirrored ? [] : capture.poses.value?.rows ?? []).map {
        ($0.frame, $0.pose.turnedClockwise(quarterTurns: turns))
      }
    ) { first, _ in first }
    offsetNanoseconds = ExportParameters.timeOffsetNanoseconds(context.parameters)
    otherSizes = try Self.otherSizes(pictures, width: width, height: height)
  }

  /// Canonical frames.
  package var frameCount: Int { context.capture.frames.count }

  /// Whether there are color pictures, or will be.
  package var hasPictures: Bool { pictures != nil || outlook?.pictures != nil }

  /// Whether any frame has depth that is exported, or will have.
  package var hasAnyDepth: Bool {
    depth.map { !$0.isEmpty } ?? outlook?.depth.map { !$0.isEmpty } ?? false
  }

  package func hasPicture(_ frame: Int) -> Bool {
    pictures?.has(frame) ?? outlook?.pictures?.has(frame) ?? false
  }

  package func hasDepth(_ frame: Int) -> Bool {
    depth?.has(frame) ?? outlook?.depth?.contains(frame) ?? false
  }

  /// Whether a frame has no picture, or no depth, only because the stage that makes them was told to leave it
  /// out: such a frame is not lost, it is not selected.
  package func isPictureSkipped(_ frame: Int) -> Bool {
    pictures?.isSkipped(frame) ?? outlook?.pictures?.isSkipped(frame) ?? false
  }

  package func isDepthSkipped(_ frame: Int) -> Bool { depth?.isSkipped(frame) ?? false }

  /// Whether the capture has poses at all.
  package var hasPoses: Bool { !poses.isEmpty }

  /// Whether the app's world has y up, as ARKit and ARCore define it; published ScanNet++ scenes stand in the
  /// world of their mesh, which has z up.
  package var worldIsYUp: Bool { !ScannedWorld.isZUp(context.capture) }

  /// The world of the poses, for people.
  package var worldWords: String {
    worldIsYUp ? "the app's world (y up)" : "the world of the scene (z up)"
  }

  /// Camera to world, OpenCV axes, of the picture as it lies in `color/`.
  package func pose(_ frame: Int) -> Pose? { poses[frame] }

  /// The time of a picture with the parameter `timeOffset` added; `nil` = unknown.
  package func time(_ frame: Int) -> Timestamp? {
    context.capture.frames[frame].pictureTime?.advanced(byNanoseconds: offsetNanoseconds)
  }

  /// The same of the depth picture: its own time, else that of the picture.
  package func depthTime(_ frame: Int) -> Timestamp? {
    context.capture.frames[frame].depthPictureTime?.advanced(byNanoseconds: offsetNanoseconds)
  }

  /// Depth camera to color camera of the depth that is exported, the latter that of the upright pictures:
  /// identity on the color grid.
  package var colorFromDepth: RigidTransform {
    guard depthChoice == .native else { return .identity }
    let stored =
      cameras.calibration?.registered == true
      ? .identity : cameras.calibration?.colorFromDepth ?? .identity
    return clockwiseQuarterTurns == 0
      ? stored
      : CameraAxes.turnedFromStored(clockwiseQuarterTurns: clockwiseQuarterTurns) * stored
  }

  /// Whether it is known how the exported depth stands to color.
  package var isColorFromDepthKnown: Bool {
    depthChoice != .native || cameras.calibration?.registered == true
      || cameras.calibration?.colorFromDepth != nil
  }

  /// The camera of the exported depth pictures, given that of color: its own, or, where they share one
  /// camera, that of color on the depth grid. `nil` where it is not known.
  package func depthCamera(color: PinholeCamera) -> PinholeCamera? {
    guard depthChoice == .native, let stream = context.capture.depth.value else { return color }
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
  package var depthSize: (width: Int, height: Int)? {
    switch depthChoice {
    case .none: nil
    case .native: context.capture.depth.value.map { ($0.width, $0.height) }
    case .aligned: width.flatMap { width in height.map { (width, $0) } }
    }
  }

  /// The grid of aligned depth, where it is not that of color.
  private static func otherGrid(_ choice: DepthChoice, _ depth: ExportPictures?) -> String? {
    guard choice == .aligned, case .string(let grid)? = depth?.record.parameters["grid"],
      grid != "color"
    else { return nil }
    return grid
  }

  /// For formats whose depth pictures are those of the color grid.
  ///
  /// - Throws: which parameter to change, where they were made on another.
  package func checkGrid() throws {
    guard let depth, let grid = Self.otherGrid(depthChoice, depth) else { return }
    throw StageFailure(
      "the pictures of '\(depth.stage)' lie on another grid than color (\(depth.stage).grid is \(grid)): "
        + "run it again with --set \(depth.stage).grid=color")
  }

  /// Read from the heads of the files, and only where the color stage has met other sizes.
  private static func otherSizes(
    _ pictures: ExportPictures?, width: Int?, height: Int?
  ) throws -> Set<Int> {
    guard let pictures, let width, let height, pictures.haveOtherSizes else { return [] }
    return try pictures.framesOfOtherSize(width: width, height: height)
  }
}

extension ExportPictures {
  /// The key under which inner stages pass on that the color stage met pictures of other sizes.
  static let otherSizesKey = "otherSizes"

  /// Whether the color stage met pictures of another size than the stream's.
  var haveOtherSizes: Bool {
    record.recorded?[Self.otherSizesKey] == .bool(true)
      || record.warnings.contains { $0.code == .sizeMismatch && $0.subject == "color" }
  }

  /// What an inner stage that encodes these pictures anew records of their sizes.
  var sizesToRecord: [String: JSONValue] {
    haveOtherSizes ? [Self.otherSizesKey: .bool(true)] : [:]
  }

  /// Cost: reading every file.
  fileprivate func framesOfOtherSize(width: Int, height: Int) throws -> Set<Int> {
    var frames: Set<Int> = []
    for frame in self.frames {
      guard let file = file(frame) else { continue }
      let head = try StillImage.head(file)
      if (head.storedWidth, head.storedHeight) != (width, height) { frames.insert(frame) }
    }
    return frames
  }
}
