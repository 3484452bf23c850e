import Core

/// Synthesizes captures of the ARKit-Scanner app in all its generations, and the released ScanNet++
/// folder.
enum ARKitScannerFamily: SyntheticFamily {
  static let name = "arkit-scanner"
  static let generations = ScannerGeneration.allCases.map(\.rawValue)
  static let generationsWithMotion = generations
  static let faults = ScannerFaults.all.map(\.description)
  static let about = "1920x1440 color and 256x192 depth, 60 frames at 60 per second"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let generation = options.generation.flatMap(ScannerGeneration.init(rawValue:)) ?? .g6
    var plan = ScannerPlan(generation: generation, frames: options.frames ?? 60)
    let faults = try ScannerFault.apply(
      options.faults, of: ScannerFaults.all, to: &plan, form: (generation, generation.rawValue),
      frames: plan.frames, leastFrames: 10, family: name)
    guard (options.depthWidth ?? 256, options.depthHeight ?? 192) == (256, 192) else {
      throw SynthesisError("depth of this family is always 256x192")
    }
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1457.02, fy: 1457.02, cx: 960.68, cy: 718.84
    ).scaled(toWidth: options.width ?? 1920, height: options.height ?? 1440)
    let rig = Rig(
      options, color: color, depth: color.scaled(toWidth: 256, height: 192))
    let moment = SeededNames.moment(seed: options.seed)
    let id = options.id ?? "lab 101 \(moment.date()) \(moment.time())"
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = ScannerWriter(plan: plan, options: options, folder: folder, rig: rig)
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
