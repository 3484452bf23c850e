import Core

/// Synthesizes Strabo captures: a movie or a still with a log of position and heading.
enum StraboFamily: SyntheticFamily {
  static let name = "strabo"
  static let generations = TrackForm.allCases.map(\.rawValue)
  static let generationsWithMotion = [String]()
  static let faults = TrackFaults.all.map(\.description)
  static let about = "640x480 color in portrait, 90 frames at 30 per second, or a still"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let form = options.generation.flatMap(TrackForm.init(rawValue:)) ?? .v1
    var plan = TrackPlan(form: form, frames: options.frames ?? 90)
    let faults = try TrackFault.apply(
      options.faults, of: TrackFaults.all, to: &plan, form: (form, form.rawValue),
      frames: options.frames ?? 90, leastFrames: 1, family: name)
    let stored = PinholeCamera(
      width: 640, height: 480, fx: 590.3, fy: 590.3, cx: 320.8, cy: 238.6
    ).scaled(toWidth: options.width ?? 640, height: options.height ?? 480)
    let color = stored.turnedClockwise(quarterTurns: plan.clockwiseQuarterTurns)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(toWidth: color.width / 2, height: color.height / 2))
    let token = SeededNames.hex(
      seed: options.seed, "token", count: form == .v0 ? 32 : 64)
    let id = options.id ?? token
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = TrackWriter(
        plan: plan, token: token, options: options, folder: folder, rig: rig)
      // August 2012, when the app was in use.
      let createdAt = 1_344_352_260 + Int(options.seed % 86_400)
      let warnings = try writer.write(
        id: id, createdAt: createdAt, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: form.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.pictures, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}
