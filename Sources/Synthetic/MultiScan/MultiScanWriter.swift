import Core
import SystemPackage

/// Writes a MultiScan capture, frame by frame.
struct MultiScanWriter {
  let id: String
  let plan: MultiScanPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  let rate: Double
  private let times: MultiScanTimes
  private let camera: DriftingCamera

  /// Digests of the frames' content.
  struct Digests {
    var depth: [Digest] = []
    var confidence: [Digest] = []
  }

  init(
    id: String, plan: MultiScanPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig
  ) {
    self.id = id
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? plan.generation.defaultRate
    times = MultiScanTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(device: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let digests = try writeFrames(&truth)
    try writeCameraInfo()
    let samples = MultiScanSamples(plan: plan, times: times, rig: rig, options: options)
    for file in MultiScanMotion.files where !plan.missingMotion.contains(file.fileExtension) {
      guard let stored = samples.stored[file.fileExtension] else { continue }
      try MultiScanMotion(plan: plan).write(
        file, to: path(file.fileExtension), samples: stored)
    }
    let metadata = MultiScanMetadata(
      plan: plan, color: rig.color, intrinsics: colorCamera(0), depthWidth: rig.depth.width,
      depthHeight: rig.depth.height, device: device,
      motionCounts: samples.stored.mapValues(\.count))
    if plan.hasMetadata {
      let name = plan.generation == .androidPlain ? "txt" : "json"
      try OutputFile.write(metadata.bytes(), to: path(name))
    }
    var expectation = MultiScanExpectation(
      plan: plan, times: times, motionStart: samples.start)
    if plan.generation == .iosStereo,
      rig.depth.width * rig.depth.height * 2 > MultiScanDepth.compressorBytes
    {
      expectation.addStereoDefects(plan.depthFrames)
    }
    let report = MultiScanReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: expectation, digests: digests, samples: samples, metadata: metadata,
      info: info, constantIntrinsics: colorCamera(0))
    try truth.finish(expected: report.expected, truth: report.truth)
    return expectation.warnings.entries
  }

  private func path(_ name: String) -> FilePath { folder.capture.appending("\(id).\(name)") }

  /// Autofocus drifts only if intrinsics are stored for every frame.
  private func colorCamera(_ frame: Int) -> PinholeCamera {
    camera.camera(plan.generation.hasCameraInfo ? frame : 0)
  }

  private func info(_ line: Int) -> MultiScanCameraInfo {
    let frame = min(line, plan.frames - 1)
    return MultiScanCameraInfo(
      frame: line, timestamp: times.line(line),
      state: rig.motion.state(at: times.worldSeconds(ofFrame: frame)),
      intrinsics: colorCamera(frame), exposureSeconds: options.exposureSeconds, plan: plan)
  }

  private func writeFrames(_ truth: inout TruthWriter) throws -> Digests {
    var videos = try MultiScanVideos(
      plan: plan, folder: folder.capture, id: id, rig: rig, options: options)
    var streams = try MultiScanStreams(
      plan: plan, depth: path("depth.zlib"), confidence: path("confidence.zlib"))
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(ofFrame: frame))
      let nanoseconds = times.frame(frame)
      let color = colorCamera(frame)
      if plan.generation.hasDepth, frame >= plan.lateDepth {
        exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
        exact.render(state.viewpoint())
        let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        try streams.append(
          frame, meters: lidar.measure(exact.meters, frame: frame),
          confidence: lidar.confidence(exact.meters))
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      }
      guard frame < plan.pictures else { continue }
      try videos.append(frame, state: state, camera: color, ticks: times.ticks(frame))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    try videos.finish()
    return try streams.finish()
  }

  private func writeCameraInfo() throws {
    guard plan.generation.hasCameraInfo else { return }
    let file = try GrowingFile(path("jsonl"))
    // ARCore repeats the last line until depth is as long as the video.
    let lines = plan.frames + plan.lateDepth
    for line in 0..<lines {
      let bytes = try info(line).line.bytes(escapingSlashes: true)
      let isCut = plan.cutsLastLine && line == plan.frames - 1
      if plan.brokenLines.contains(line) {
        try file.append(bytes.dropFirst(3))
      } else {
        try file.append(isCut ? bytes.prefix(bytes.count / 2) : bytes[...])
      }
      if !isCut { try file.append(plan.lineEnd) }
    }
    try file.close()
  }
}
