import Captures
import Media
import Core
import Engine
import Processing

/// The content of the clouds of a capture: frames, axes and cameras.
struct PointCloudPlan {
  /// Canonical indices, ascending.
  let frames: [Int]
  let axes: ExportPLY.Axes
  let files: ExportPLY.Layout
  let layout: PLYLayout
  /// The exported frames, with the reasons for leaving out others.
  let exported: ExportFrames
  let source: ExportSource

  private let reader: FrameStoreReader
  private let cameras: CaptureCameras
  private let unprojector: DepthUnprojector
  private let sampler: ColorSampler?
  private let poses: [Int: Pose]
  /// The color camera of each frame, if that is also the depth camera and the capture states it per
  /// frame; `nil` if the calibration's camera applies to all frames.
  private let frameCameras: [Int: PinholeCamera]?
  private let pixelStep: Int
  private let largestMillimeters: Double
  private let leastConfidence: Int?

  init(_ context: StageContext, _ reader: FrameStoreReader) throws {
    var context = context
    context.parameters = ExportPLY.choosing(context.parameters)
    // Pictures that were picked are thinned already.
    if let color = context.inputs["color"], PickedFrames(color.record) != nil {
      context.parameters = ExportPLY.withoutUsualEvery(context.parameters)
    }
    let values = context.parameters
    // Camera axes need no poses, whatever their state.
    if !ExportPLY.wantsWorld(values) { context.capture.poses = .absent("axes are the camera's") }
    source = try ExportPLY.source(context)
    self.reader = reader
    cameras = try CalibrationChoice.cameras(context, reader.store)
    unprojector = try DepthUnprojector(
      calibration: cameras.calibration, depthSize: cameras.depthSize, colorSize: cameras.colorSize)
    if let pictures = source.pictures {
      sampler = try cameras.sampler(of: pictures.record, pictures.stage)
    } else {
      sampler = nil
    }
    let frameCameras = Self.frameCameras(context.capture, cameras)
    self.frameCameras = frameCameras
    pixelStep = values[ExportPLY.pixels]
    largestMillimeters = values[ExportPLY.maximumDistance].map { $0 * 1000 } ?? .infinity
    leastConfidence = values[ExportPLY.minimumConfidence]

    axes = source.hasPoses ? .world : .camera
    files = values[ExportPLY.layout]
    poses = context.capture.posesByFrame
    exported = try Self.chooseFrames(source, hasDepth: reader.hasPicture, frameCameras)
    frames = exported.frames
    let poses = poses
    layout = Self.layout(
      values, axes, hasColor: source.pictures != nil, poses: frames.map { poses[$0] })
  }

  /// The frames of a capture whose points are not made yet.
  static func chooseFrames(_ source: ExportSource) throws -> ExportFrames {
    guard let stream = source.context.capture.depth.value else {
      throw StageDoesNotApply("no depth")
    }
    let cameras = try CalibrationChoice.cameras(
      source.context.capture, file: source.context.externalFiles["calibration"],
      depthSize: stream.size)
    return try chooseFrames(
      source, hasDepth: source.hasDepth, frameCameras(source.context.capture, cameras))
  }

  private static func chooseFrames(
    _ source: ExportSource, hasDepth: @escaping (Int) -> Bool, _ cameras: [Int: PinholeCamera]?
  ) throws -> ExportFrames {
    let isInWorld =
      source.hasPoses && ExportPLY.wantsWorld(source.context.parameters)
    var needs: ExportNeeds = [.depth, .intrinsics]
    if source.hasPictures { needs.insert(.picture) }
    if isInWorld { needs.insert(.pose) }
    let found = try ExportFrames(
      source, needs, hasDepth: hasDepth,
      hasIntrinsics: { frame in cameras.map { $0[frame] != nil } ?? true })
    // Frames with separate camera axes cannot share a cloud.
    return !isInWorld
      && source.context.parameters[ExportPLY.layout] == .cloud
      ? found.firstAlone(source.hasPoses ? .notSelected : .noPose) : found
  }

  private static func layout(
    _ values: ParameterValues, _ axes: ExportPLY.Axes, hasColor: Bool, poses: [Pose?]
  ) -> PLYLayout {
    // A float represents a kilometer to 0.06 mm.
    let isFarAway = poses.contains { $0?.position.contains { abs($0) > 1000 } ?? false }
    return PLYLayout(
      hasDoubleCoordinates: isFarAway, hasColor: hasColor,
      hasConfidence: values[ExportPLY.confidence], hasFrame: values[ExportPLY.frame],
      comments: [
        axes == .world
          ? "meters, world axes as the app defines them"
          : "meters, axes of the color camera: x right, y down, z forward",
        axes == .world
          ? "placed by the poses of the color camera: x right, y down, z forward"
          : "seen by the color camera as it stores its pictures, before any turn",
      ])
  }

  /// The intrinsics of each frame, if depth shares the color camera and the user names no
  /// calibration. Rows for another picture size and invalid ones count as unknown.
  private static func frameCameras(
    _ capture: Capture, _ cameras: CaptureCameras
  ) -> [Int: PinholeCamera]? {
    guard cameras.isCapturesOwn, cameras.calibration.sharesCamera,
      let stated = cameras.calibration.colorIntrinsics,
      let rows = capture.intrinsics.value, !rows.isEmpty
    else { return nil }
    // Rows state the size of the upright picture, and the intrinsics of the stored one.
    let isOnItsSide = cameras.clockwiseQuarterTurns % 2 != 0
    let upright = isOnItsSide ? (stated.height, stated.width) : (stated.width, stated.height)
    var byFrame: [Int: PinholeCamera] = [:]
    for row in rows where byFrame[row.frame] == nil {
      guard (row.width ?? upright.0, row.height ?? upright.1) == upright,
        [row.fx, row.fy, row.cx, row.cy].allSatisfy(\.isFinite), row.fx > 0, row.fy > 0
      else { continue }
      byFrame[row.frame] = PinholeCamera(
        width: stated.width, height: stated.height, fx: row.fx, fy: row.fy, cx: row.cx, cy: row.cy)
    }
    return byFrame
  }

  /// Whether depth was measured through a lens with known coefficients.
  var isThroughLens: Bool { !cameras.calibration.effectiveDepthDistortion.isNone }

  /// Number of pixels of a frame with a measurement.
  func measuredPixels(_ frame: Int) -> Int {
    reader.hasPicture(frame)
      ? reader.withFrame(frame, as: UInt16.self) { DepthImage.measured($0) } : 0
  }

  /// Appends the points of one frame.
  func draw(
    _ frame: Int, confidence: GrayImage?, _ scratch: inout PointCloudScratch
  ) throws {
    let size = unprojector.depthSize
    scratch.points.restart(reserving: size.width * size.height / (pixelStep * pixelStep))
    if let confidence, (confidence.width, confidence.height) != (size.width, size.height) {
      throw DepthFilterError.sizeMismatch(
        depth: size, other: PictureSize(width: confidence.width, height: confidence.height))
    }
    let unprojector = try unprojector(for: frame, &scratch)
    let worldFromColor = poses[frame]?.worldFromCamera ?? .identity
    let picture = try source.pictures?.color(frame)
    try reader.withFrame(frame, as: UInt16.self) { depth in
      if let picture, let sampler {
        try sampler.sample(
          picture, for: depth, scratch: &scratch.sampler, into: &scratch.picture,
          mask: &scratch.mask)
      }
      // Once for all points: taking a member out of a structure counts references.
      let (isColored, mask, rgb) = (sampler != nil, scratch.mask.values, scratch.picture.rgb)
      let certainties = confidence?.values
      try unprojector.forEachPoint(
        of: depth, step: pixelStep, through: worldFromColor * unprojector.colorFromDepth
      ) { index, x, y, z in
        guard Double(depth[index]) <= largestMillimeters else { return }
        let certainty = certainties?[index] ?? 0
        if let leastConfidence, Int(certainty) < leastConfidence { return }
        var color: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0)
        if isColored {
          guard mask[index] != 0 else { return }
          color = (rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2])
        }
        scratch.points.append(
          x: x, y: y, z: z, color: color, confidence: certainty, frame: frame)
      }
    }
  }

  /// The frame's camera; its table is rebuilt only when it changes.
  private func unprojector(
    for frame: Int, _ scratch: inout PointCloudScratch
  ) throws -> DepthUnprojector {
    guard let camera = frameCameras?[frame], camera != cameras.calibration.colorIntrinsics else {
      return unprojector
    }
    if let last = scratch.unprojector, last.camera == camera { return last.table }
    var calibration = cameras.calibration
    calibration.colorIntrinsics = camera
    let table = try DepthUnprojector(
      calibration: calibration, depthSize: cameras.depthSize, colorSize: cameras.colorSize)
    scratch.unprojector = (camera, table)
    return table
  }
}

/// The buffers of one worker.
struct PointCloudScratch {
  var points: PLYPoints
  var sampler = ColorSamplerScratch()
  var picture = ColorImage(width: 0, height: 0)
  var mask = GrayImage(width: 0, height: 0, values: [])
  var unprojector: (camera: PinholeCamera, table: DepthUnprojector)?

  init(_ layout: PLYLayout) {
    points = PLYPoints(layout)
  }
}
