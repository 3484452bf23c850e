import Core
import SystemPackage

/// Writes an export of 3D Scanner App, frame by frame.
struct ThreeDAppWriter {
  let plan: ThreeDAppPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: ThreeDAppTimes
  private let camera: DriftingCamera

  init(plan: ThreeDAppPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 30
    times = ThreeDAppTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let pictures = try writePictures(&truth)
    let files = (0..<plan.frames).map { frame in
      ThreeDAppFrameFile(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame),
        exposureSeconds: options.exposureSeconds)
    }
    if plan.hasFrameFiles {
      for file in files {
        guard let bytes = file.bytes else { continue }
        let name = "frame_\(ThreeDAppPictures.number(file.frame)).json"
        try OutputFile.write(bytes, to: folder.capture.appending(name))
      }
    }
    try writeSides()
    let report = ThreeDAppReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: ThreeDAppExpectation(plan: plan, files: files),
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      files: files)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws -> ThreeDAppPictures {
    var pictures = try ThreeDAppPictures(folder.capture, plan: plan)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
      try pictures.append(
        frame: frame, depth: lidar.depthImage(exact.meters, frame: frame),
        confidence: lidar.confidenceImage(exact.meters))
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      guard !plan.color.isAbsent, frame % plan.generation.colorStep == 0 else { continue }
      renderer.camera = color
      try pictures.append(frame: frame, color: renderer.render(frame: frame, state: state))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    return pictures
  }

  /// The description of the scan, and files that no reader needs.
  private func writeSides() throws {
    if plan.hasInfo {
      var info: [String: JSONTree] = [
        "title": "Küche", "numImages": JSONTree(plan.frames + plan.surplusDeclared),
        "appVersionString": "1.9.5", "captureMode": plan.generation == .lidar ? 1 : 2,
        "projectVersion": 1,
      ]
      if plan.position == .ofScan {
        info["gpsLatitude"] = .number(ThreeDAppFrameFile.latitude)
        info["gpsLongitude"] = .number(ThreeDAppFrameFile.longitude)
        info["gpsAltitude"] = 31.66
      }
      try OutputFile.write(
        JSONTree.object(info).bytes(pretty: true), to: folder.capture.appending("info.json"))
    }
    for name in ["export.obj", "textured_output.mtl", "points.ply", "world_map.arkit"] {
      try OutputFile.write(Array("# \(name)\n".utf8), to: folder.capture.appending(name))
    }
  }
}
