import Core

/// Synthesizes captures of Stray Scanner in all its generations.
enum StrayScannerFamily: SyntheticFamily {
  static let name = "stray-scanner"
  static let generations = StrayGeneration.allCases.map(\.rawValue)
  static let generationsWithMotion = generations
  static let faults = StrayFaults.all.map(\.description)
  static let about =
    "1920x1440 color, 256x192 depth and confidence, 60 frames at 60 per second, sensors at 100 Hz"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let generation =
      options.generation.flatMap(StrayGeneration.init(rawValue:)) ?? .perFrameIntrinsics
    var plan = StrayPlan(generation: generation, frames: options.frames ?? 60)
    let faults = try StrayFault.apply(
      options.faults, of: StrayFaults.all, to: &plan, form: (generation, generation.rawValue),
      frames: plan.frames, leastFrames: 10, family: name)
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1349.6, fy: 1349.6, cx: 955.37, cy: 717.71
    ).scaled(toWidth: options.width ?? 1920, height: options.height ?? 1440)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(
        toWidth: options.depthWidth ?? 256, height: options.depthHeight ?? 192))
    let id = options.id ?? SeededNames.hex(seed: options.seed, "recording", count: 10)
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = StrayWriter(plan: plan, options: options, folder: folder, rig: rig)
      let warnings = try writer.write(id: id, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: generation.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.canonicalFrames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}
