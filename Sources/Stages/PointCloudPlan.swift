import Captures
import Codecs
import Geometry
import Pipeline
import Processing
import Storage

/// What goes into the clouds of a capture: which frames, in which axes, seen by which cameras.
struct PointCloudPlan: Sendable {
  /// Canonical indices, ascending.
  let frames: [Int]
  let axes: PointCloudExport.Axes
  let files: PointCloudExport.Layout
  let layout: PLYLayout
  /// Selected frames that were left out because the world is asked for and nobody knows where they are.
  let framesWithoutPose: Int

  private let reader: FrameStoreReader
  private let cameras: CaptureCameras
  private let unprojector: DepthUnprojector
  private let sampler: ColorSampler?
  private let pictures: PictureFiles?
  private let poses: [Int: Pose]
  /// The color camera frame by frame, where that is also the depth camera and changes.
  private let frameCameras: [Int: PinholeCamera]
  private let pixelStep: Int
  private let largestMillimeters: Double
  private let leastConfidence: Int?

  init(_ context: StageContext, _ reader: FrameStoreReader) throws {
    let values = context.parameters
    self.reader = reader
    cameras = try CalibrationChoice.cameras(context, reader.store)
    unprojector = try DepthUnprojector(
      calibration: cameras.calibration, depthSize: cameras.depthSize, colorSize: cameras.colorSize)
    let pictures = context.inputs["color"].map(PictureFiles.init)
    self.pictures = pictures
    sampler =
      pictures == nil
      ? nil
      : try ColorSampler(
        calibration: cameras.calibration, depthSize: cameras.depthSize,
        colorSize: cameras.colorSize, clockwiseQuarterTurns: cameras.clockwiseQuarterTurns)
    frameCameras = Self.frameCameras(context.capture, cameras)
    pixelStep = values.integer("pixels") ?? 1
    largestMillimeters = values.meters("maximumDistance").map { $0 * 1000 } ?? .infinity
    leastConfidence = values.integer("minimumConfidence")

    let recorded = context.capture.poses.value?.rows ?? []
    let wantsWorld = values.text("axes") != PointCloudExport.Axes.camera.rawValue
    axes = wantsWorld && !recorded.isEmpty ? .world : .camera
    files = values.text("layout").flatMap(PointCloudExport.Layout.init) ?? .cloud
    let poses =
      axes == .world
      ? Dictionary(recorded.map { ($0.frame, $0.pose) }) { first, _ in first } : [:]
    self.poses = poses

    let selection = FrameSelection(
      every: values.integer("every") ?? 1, first: values.integer("first") ?? 0,
      last: values.integer("last"))
    let selected = (0..<reader.store.frameCount).filter { frame in
      selection.contains(frame) && reader.hasPicture(frame)
        && (pictures.map { $0[frame] != nil } ?? true)
    }
    let placed = axes == .world ? selected.filter { poses[$0] != nil } : selected
    framesWithoutPose = selected.count - placed.count
    // Frames in camera axes of their own make no common cloud.
    frames = axes == .camera && files == .cloud ? Array(placed.prefix(1)) : placed
    layout = Self.layout(
      values, axes, hasColor: pictures != nil, poses: placed.map { poses[$0] })
  }

  private static func layout(
    _ values: ParameterValues, _ axes: PointCloudExport.Axes, hasColor: Bool, poses: [Pose?]
  ) -> PLYLayout {
    // A float holds a kilometer to 0.06 mm.
    let isFarAway = poses.contains { $0?.position.contains { abs($0) > 1000 } ?? false }
    return PLYLayout(
      hasDoubleCoordinates: isFarAway, hasColor: hasColor,
      hasConfidence: values.flag("confidence"), hasFrame: values.flag("frame"),
      comments: [
        axes == .world
          ? "meters, world axes as the app defines them"
          : "meters, axes of the color camera: x right, y down, z forward",
        axes == .world
          ? "placed by the poses of the color camera: x right, y down, z forward"
          : "seen by the color camera as it stores its pictures, before any turn",
      ])
  }

  /// Depth that shares the color camera follows the camera's own intrinsics of each frame, unless the
  /// user names a calibration.
  private static func frameCameras(
    _ capture: Capture, _ cameras: CaptureCameras
  ) -> [Int: PinholeCamera] {
    guard cameras.isCapturesOwn, cameras.calibration.registered,
      cameras.calibration.depthIntrinsics == nil, let stated = cameras.calibration.colorIntrinsics,
      let rows = capture.intrinsics.value
    else { return [:] }
    return Dictionary(
      rows.map { row in
        (
          row.frame,
          PinholeCamera(
            width: stated.width, height: stated.height, fx: row.fx, fy: row.fy, cx: row.cx,
            cy: row.cy)
        )
      }
    ) { first, _ in first }
  }

  /// Points of one frame.
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
    let picture = try pictures?.color(frame)
    try reader.withFrame(frame, as: UInt16.self) { depth in
      if let picture, let sampler {
        try sampler.sample(
          picture, for: depth, scratch: &scratch.sampler, into: &scratch.picture,
          mask: &scratch.mask)
      }
      try unprojector.forEachPoint(
        of: depth, step: pixelStep, through: worldFromColor * unprojector.colorFromDepth
      ) { index, x, y, z in
        guard Double(depth[index]) <= largestMillimeters else { return }
        let certainty = confidence?.values[index] ?? 0
        if let leastConfidence, Int(certainty) < leastConfidence { return }
        var color: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0)
        if sampler != nil {
          guard scratch.mask.values[index] != 0 else { return }
          let rgb = scratch.picture.rgb
          color = (rgb[3 * index], rgb[3 * index + 1], rgb[3 * index + 2])
        }
        scratch.points.append(
          x: x, y: y, z: z, color: color, confidence: certainty, frame: frame)
      }
    }
  }

  /// The frame's own camera; tabulated again only when it changes.
  private func unprojector(
    for frame: Int, _ scratch: inout PointCloudScratch
  ) throws -> DepthUnprojector {
    guard let camera = frameCameras[frame], camera != cameras.calibration.colorIntrinsics else {
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
struct PointCloudScratch: Sendable {
  var points: PLYPoints
  var sampler = ColorSamplerScratch()
  var picture = ColorImage(width: 0, height: 0)
  var mask = GrayImage(width: 0, height: 0, values: [])
  var unprojector: (camera: PinholeCamera, table: DepthUnprojector)?

  init(_ layout: PLYLayout) {
    points = PLYPoints(layout)
  }
}
