import Core
import SystemPackage

/// Writes an export of Polycam, frame by frame.
struct PolycamWriter {
  let plan: PolycamPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: PolycamTimes
  private let camera: DriftingCamera

  init(plan: PolycamPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 10
    times = PolycamTimes(frames: plan.frames, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    var inner = folder.capture
    if plan.hasOuterFolder {
      inner = inner.appending("keyframes")
      try FileSystem.makeFolder(inner)
      try OutputFile.write(Array("{}".utf8), to: folder.capture.appending("mesh_info.json"))
    }
    var pictures = try PolycamPictures(inner, plan: plan)
    try write(&pictures, &truth)
    let files = (0..<plan.frames).map { frame in
      PolycamCameraFile(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame))
    }
    for file in files {
      try pictures.append(times.microseconds[file.frame], camera: file.bytes)
    }
    let report = PolycamReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, times: times, faults: faults,
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      files: files)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.warnings.entries
  }

  private func write(_ pictures: inout PolycamPictures, _ truth: inout TruthWriter) throws {
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.nanoseconds(frame)
      let color = camera.camera(frame)
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
      try pictures.append(
        frame: frame, times.microseconds[frame],
        depth: lidar.depthImage(exact.meters, frame: frame),
        confidence: lidar.confidenceImage(exact.meters))
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      guard !plan.color.isAbsent else { continue }
      renderer.camera = color
      try pictures.append(
        frame: frame, times.microseconds[frame], color: renderer.render(frame: frame, state: state))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
  }
}
