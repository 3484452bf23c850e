import Media
import Core
import SystemPackage

/// Synthesizes VI-SLAM sessions: a video and the phone's motion sensors, without depth.
enum VISLAMFamily: SyntheticFamily {
  static let name = "vi-slam"
  static let generations = SessionForm.allCases.map(\.rawValue)
  static let generationsWithMotion = generations
  static let faults = SessionFaults.all.map(\.description)
  static let about = "1280x720 color, 90 frames at 30 per second, sensors at 100 Hz"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let form = options.generation.flatMap(SessionForm.init(rawValue:)) ?? .v1
    var plan = SessionPlan(form: form, frames: options.frames ?? 90)
    let faults = try SessionFault.apply(
      options.faults, of: SessionFaults.all, to: &plan, form: (form, form.rawValue),
      frames: plan.frames, leastFrames: 8, family: name)
    let color = PinholeCamera(
      width: 1280, height: 720, fx: 982.4, fy: 982.4, cx: 641.2, cy: 358.7
    ).scaled(toWidth: options.width ?? 1280, height: options.height ?? 720)
    // There is no depth camera; the truth has depth at a quarter of the picture's size.
    let depth = color.scaled(toWidth: color.width / 4, height: color.height / 4)
    let rig = Rig(
      options, color: color, depth: depth)
    let moment = SeededNames.moment(seed: options.seed)
    let made =
      form.isAndroid
      ? "recording_\(moment.date(""))_\(moment.time(""))_\(SeededNames.hex(seed: options.seed, "session", count: 8))"
      : "session_\(moment.date())T\(moment.time())Z"
    let id = options.id ?? made
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = SessionWriter(plan: plan, options: options, folder: folder, rig: rig)
      let warnings = try writer.write(id: id, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: form.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.frames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}

/// Writes a session, frame by frame.
struct SessionWriter {
  let plan: SessionPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: SessionTimes

  init(plan: SessionPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 30
    times = SessionTimes(plan: plan, rate: rate, seed: options.seed)
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    try writePictures(&truth)
    let tables = SessionTables(
      plan: plan, times: times, width: rig.color.width, height: rig.color.height,
      exposureSeconds: options.exposureSeconds)
    if plan.hasFrameTable {
      try tables.writeFrames(to: folder.capture.appending("frame_metadata.csv"))
    }
    let samples = SessionSamples(plan: plan, times: times, rig: rig, options: options)
    if plan.hasInertialTable {
      try tables.writeInertial(samples, to: folder.capture.appending("imu_data.csv"))
    }
    let report = SessionReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: SessionExpectation(plan: plan, times: times, samples: samples),
      tables: tables, present: samples.present)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws {
    let form = VideoSink.Form(
      container: .mp4, ticksPerSecond: SessionTimes.ticksPerSecond, bFrames: 2, range: .full)
    let isVideo = plan.form != .androidWide
    let video =
      plan.hasVideo && isVideo
      ? try VideoSink(
        folder.capture.appending("video.mp4"), form, camera: rig.color, options: options) : nil
    let second =
      plan.hasSecondVideo
      ? try VideoSink(
        folder.capture.appending("preview.mp4"), form, camera: rig.color, options: options) : nil
    if !isVideo { try FileSystem.makeFolder(folder.capture.appending("frames")) }
    var png = PNGWriter(compression: .compact)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    for frame in 0..<plan.frames {
      let nanoseconds = times.frame(frame)
      let state = rig.motion.state(at: times.worldSeconds(nanoseconds))
      exact.render(state.viewpoint())
      try truth.recordDepth(
        frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: rig.color)
      guard plan.hasVideo, !plan.lostPictures.contains(frame) else { continue }
      renderer.reuse(video?.spare())
      let picture = renderer.render(frame: frame, state: state)
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      if isVideo {
        try video?.append(picture, ticks: times.ticks(frame))
        if frame < 3 { try second?.append(picture, ticks: times.ticks(frame)) }
      } else {
        let name = SessionTables.pictureName(frame)
        try OutputFile.write(png.encode(picture), to: folder.capture.appending(name))
      }
    }
    try video?.finish()
    try second?.finish()
  }
}
