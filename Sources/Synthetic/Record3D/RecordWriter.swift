import Core
import SystemPackage

/// Writes a Record3D recording, frame by frame.
struct RecordWriter {
  let plan: RecordPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: RecordTimes
  private let camera: DriftingCamera
  private let color = JPEGPictureFiles()
  private let depthFile: RecordDepthFile

  private struct Digests {
    var depth: [Digest?] = []
    var confidence: [Digest?] = []
  }

  init(plan: RecordPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 60
    times = RecordTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
    depthFile = RecordDepthFile(plan: plan, width: rig.depth.width, height: rig.depth.height)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let facts = (0..<plan.frames).map { frame in
      RecordFacts(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame))
    }
    let metadata = try RecordMetadata(
      plan: plan, times: times, rate: rate, color: rig.color, depth: rig.depth, facts: facts
    ).bytes()
    var files = try RecordFiles(folder.capture, plan: plan)
    let isLast = plan.archiveEnd == .inMetadata
    let name = plan.form.metadataName
    if !isLast { try files.append(name, metadata, .deflated) }
    let digests = try writePictures(to: &files, &truth)
    if isLast { try files.append(name, metadata, .deflated, isEnd: true) }
    try files.finish()
    let report = RecordReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: RecordExpectation(plan: plan, times: times), depthDigests: digests.depth,
      confidenceDigests: digests.confidence, facts: facts)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(
    to files: inout RecordFiles, _ truth: inout TruthWriter
  ) throws -> Digests {
    var digests = Digests()
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    let form = plan.form
    for frame in 0..<plan.frames {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      renderer.camera = camera.camera(frame)
      if !plan.color.isAbsent {
        let picture = renderer.render(frame: frame, state: state)
        let name = "\(form.colorFolder)/\(frame).jpg"
        try files.append(name, color.file(picture, plan.color.edits[frame]))
        if frame == plan.doubledFrame { try files.append(name, color.file(picture, .otherSize)) }
        try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      }
      exact.camera = renderer.camera.scaled(toWidth: rig.depth.width, height: rig.depth.height)
      exact.render(state.viewpoint())
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact,
        color: renderer.camera)
      try writeDepth(frame, exact, to: &files, &digests)
    }
    if plan.depth.hasFarNumber {
      try files.append("\(form.depthFolder)/\(PictureFilesPlan.farNumber).\(form.depthEnding)", [])
    }
    return digests
  }

  private func writeDepth(
    _ frame: Int, _ exact: DepthRenderer, to files: inout RecordFiles, _ digests: inout Digests
  ) throws {
    let form = plan.form
    let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
    let meters = depthFile.stored(lidar.measure(exact.meters, frame: frame), frame: frame)
    let confidence = lidar.confidence(exact.meters)
    let isEnd = plan.archiveEnd == .inDepth && frame == plan.frames - 2
    if !plan.depth.isAbsent {
      // What a cut copy lacks is written first.
      let edit = plan.archiveEnd == .inDepth ? nil : plan.depth.edits[frame]
      try files.append(
        "\(form.depthFolder)/\(frame).\(form.depthEnding)", depthFile.depth(meters, edit),
        frame % 2 == 0 ? .stored : .deflated, hasWrongChecksum: frame == plan.wrongChecksumFrame,
        isEnd: isEnd)
    }
    if !plan.confidence.isAbsent {
      try files.append(
        "rgbd/\(frame).conf", depthFile.confidence(confidence, plan.confidence.edits[frame]),
        .deflatedWithDescriptor)
    }
    let millimeters = depthFile.millimeters(meters)
    digests.depth.append(plan.hasDepth(frame) ? Digest(of: Bytes.of(millimeters)) : nil)
    digests.confidence.append(
      plan.confidence.isReadable(frame) ? Digest(of: confidence) : nil)
  }
}
