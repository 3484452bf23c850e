import Core

/// Synthesizes exports ("all data") of 3D Scanner App.
enum ThreeDScannerAppFamily: SyntheticFamily {
  static let name = "3d-scanner-app"
  static let generations = ThreeDAppGeneration.allCases.map(\.rawValue)
  static let generationsWithMotion = [String]()
  static let faults = ThreeDAppFaults.all.map(\.description)
  static let about =
    "1920x1440 color of every third frame, 256x192 depth and confidence, 30 frames chosen by motion"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let generation = options.generation.flatMap(ThreeDAppGeneration.init(rawValue:)) ?? .lidar
    var plan = ThreeDAppPlan(generation: generation, frames: options.frames ?? 30)
    let faults = try ThreeDAppFault.apply(
      options.faults, of: ThreeDAppFaults.all, to: &plan, form: (generation, generation.rawValue),
      frames: plan.frames, leastFrames: 10, family: name)
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1442.8, fy: 1442.8, cx: 964.2, cy: 720.9
    ).scaled(toWidth: options.width ?? 1920, height: options.height ?? 1440)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(
        toWidth: options.depthWidth ?? 256, height: options.depthHeight ?? 192))
    let moment = SeededNames.moment(seed: options.seed)
    let id = options.id ?? "\(moment.date("_"))_\(moment.time("_"))"
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = ThreeDAppWriter(plan: plan, options: options, folder: folder, rig: rig)
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
