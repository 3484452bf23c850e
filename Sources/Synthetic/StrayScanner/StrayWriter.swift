import Media
import Core
import SystemPackage

/// Writes a Stray Scanner capture, frame by frame.
struct StrayWriter {
  let plan: StrayPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: StrayTimes
  private let camera: DriftingCamera
  /// The codec that devices write, if this FFmpeg can encode it.
  private let codec: VideoEncoderSettings.Codec

  init(plan: StrayPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 60
    times = StrayTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
    codec = VideoEncoder.canEncode(.hevc) ? .hevc : .h264
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let pictures = try writePictures(&truth)
    let rows = (0..<plan.frames).map { frame in
      StrayRow(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame))
    }
    let motion = StrayMotion(plan: plan, times: times, rig: rig, options: options)
    let last = camera.camera(plan.frames - 1)
    try StrayTables(
      plan: plan, folder: folder.capture, rows: rows, motion: motion, camera: last
    ).write()
    let report = StrayReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: StrayExpectation(plan: plan, times: times, firstSample: motion.firstTime),
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      rows: rows, motion: motion, matrix: last, colorEncoding: codec.rawValue)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws -> StrayPictures {
    let videoPath = folder.capture.appending("rgb.mp4")
    var form = VideoSink.Form(
      container: .mp4, codec: codec, bFrames: plan.hasBFrames ? 2 : 0)
    form.matrix = .bt709
    form.range = .limited
    let video =
      plan.pictures.isEmpty
      ? nil : try VideoSink(videoPath, form, camera: rig.color, options: options)
    var pictures = try StrayPictures(folder.capture, plan: plan)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<max(plan.frames, plan.pictures.upperBound) {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      if frame < plan.frames {
        exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
        exact.render(state.viewpoint())
        let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        try pictures.append(
          frame: frame, depth: lidar.depthImage(exact.meters, frame: frame),
          confidence: lidar.confidenceImage(exact.meters))
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      }
      guard let video, plan.pictures.contains(frame) else { continue }
      renderer.camera = color
      renderer.reuse(video.spare())
      try video.append(renderer.render(frame: frame, state: state), ticks: times.ticks(frame))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    try video?.finish()
    if plan.video == .withoutIndex { try MovieDamage.removeIndex(of: videoPath) }
    return pictures
  }
}
