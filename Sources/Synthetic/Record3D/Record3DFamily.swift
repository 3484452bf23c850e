import Core

/// Synthesizes recordings of Record3D: the app's own file, the same unpacked, and "EXR + JPG".
enum Record3DFamily: SyntheticFamily {
  static let name = "record3d"
  static let generations = RecordForm.allCases.map(\.rawValue)
  static let generationsWithMotion = [String]()
  static let faults = RecordFaults.all.map(\.description)
  static let about =
    "720x960 color in portrait, 192x256 depth and confidence, 60 frames at 60 per second"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let form = options.generation.flatMap(RecordForm.init(rawValue:)) ?? .r3d
    var plan = RecordPlan(form: form, frames: options.frames ?? 60)
    let faults = try RecordFault.apply(
      options.faults, of: RecordFaults.all, to: &plan, form: (form, form.rawValue),
      frames: plan.frames, leastFrames: 10, family: name)
    let color = PinholeCamera(
      width: 720, height: 960, fx: 723.6, fy: 723.6, cx: 361.85, cy: 478.9
    ).scaled(toWidth: options.width ?? 720, height: options.height ?? 960)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(
        toWidth: options.depthWidth ?? 192, height: options.depthHeight ?? 256))
    let moment = SeededNames.moment(seed: options.seed)
    let id = options.id ?? "\(moment.date())--\(moment.time())"
    let folder = try CaptureFolder(
      output: options.output, id: id, ending: form == .r3d ? "r3d" : nil,
      mayReplace: options.mayReplace)
    do {
      let writer = RecordWriter(plan: plan, options: options, folder: folder, rig: rig)
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
