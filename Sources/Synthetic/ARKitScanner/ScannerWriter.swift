import Media
import Core
import SystemPackage

/// Writes an ARKit-Scanner capture, frame by frame.
struct ScannerWriter {
  let plan: ScannerPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  let rate: Double
  private let times: ScannerTimes
  private let camera: DriftingCamera

  init(plan: ScannerPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 60
    times = ScannerTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let digests = try writeFrames(&truth)
    let motion = motionSamples()
    try ScannerSideFiles(
      folder: folder.capture, plan: plan, times: times, color: rig.color,
      depthWidth: rig.depth.width, depthHeight: rig.depth.height, facts: facts,
      motion: motion.map { ($0.key, $0.sample) }
    ).write()
    let report = ScannerReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: ScannerExpectation(plan: plan, times: times, isWhole: digests.map { $0 != nil }),
      depthDigests: digests, facts: facts,
      motion: motion.compactMap { sample in
        sample.nanoseconds.map { (nanoseconds: $0, sample: sample.sample) }
      })
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
    let videoPath = folder.capture.appending(plan.generation.videoFile)
    var form = VideoSink.Form(
      container: plan.generation == .scannetpp ? .matroska : .mp4, bFrames: 2)
    form.matrix = .bt709
    form.range = .limited
    let video =
      plan.hasVideo
      ? try VideoSink(videoPath, form, camera: rig.color, options: options) : nil
    var depth = try ScannerDepthWriter(
      folder.capture.appending(plan.generation.depthFile), plan: plan, seed: options.seed)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<max(plan.frames, plan.pictures) {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      renderer.camera = color
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      if frame < plan.frames {
        exact.render(state.viewpoint())
        let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        try depth.append(frame: frame, meters: lidar.measure(exact.meters, frame: frame))
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      }
      guard let video else { continue }
      // The app's video clock counts pictures: 1/60 s each, regardless of dropped frames.
      renderer.reuse(video.spare())
      try video.append(renderer.render(frame: frame, state: state), ticks: Int64(frame) * 10)
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    try video?.finish()
    try depth.finish()
    if plan.isKilled, plan.hasVideo { try MovieDamage.removeIndex(of: videoPath) }
    return depth.digests
  }

  private func facts(_ frame: Int) -> ScannerFrameFacts {
    // Early generations store only the last frame's matrix.
    let shown = plan.generation.hasIntrinsicsPerFrame ? frame : plan.frames - 1
    return ScannerFrameFacts(
      frame: frame, plan: plan, times: times,
      state: rig.motion.state(at: times.worldSeconds(frame)), intrinsics: camera.camera(shown),
      exposureSeconds: options.exposureSeconds)
  }

  private func motionSamples() -> [(key: String, nanoseconds: Int64?, sample: InertialSample)] {
    var sensors = InertialSensors(
      motion: rig.motion, noise: options.noise, offsetSeconds: options.imuOffsetSeconds,
      seed: options.seed)
    return times.motionSamples.map {
      ($0.key, $0.nanoseconds, sensors.sample(at: times.worldSeconds(ofUptime: $0.uptime)))
    }
  }
}
