import Core

/// Synthesizes exports ("raw data") of Polycam, as far as their format is known.
enum PolycamFamily: SyntheticFamily {
  static let name = "polycam"
  static let generations = PolycamGeneration.allCases.map(\.rawValue)
  static let generationsWithMotion = [String]()
  static let faults = PolycamFaults.all.map(\.description)
  static let about =
    "1024x768 color, 256x192 depth and confidence, 30 frames chosen by motion (experimental)"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let generation = options.generation.flatMap(PolycamGeneration.init(rawValue:)) ?? .lidar
    var plan = PolycamPlan(generation: generation, frames: options.frames ?? 30)
    let faults = try PolycamFault.apply(
      options.faults, of: PolycamFaults.all, to: &plan, form: (generation, generation.rawValue),
      frames: plan.frames, leastFrames: 10, family: name)
    let color = PinholeCamera(
      width: 1024, height: 768, fx: 766.2, fy: 766.2, cx: 513.4, cy: 382.9
    ).scaled(toWidth: options.width ?? 1024, height: options.height ?? 768)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(
        toWidth: options.depthWidth ?? 256, height: options.depthHeight ?? 192))
    let moment = SeededNames.moment(seed: options.seed)
    let id = options.id ?? "polycam-\(moment.date("-"))"
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = PolycamWriter(plan: plan, options: options, folder: folder, rig: rig)
      let warnings = try writer.write(id: id, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: generation.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.frames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }
}
