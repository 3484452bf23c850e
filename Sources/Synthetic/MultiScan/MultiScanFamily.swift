import Core

/// Synthesizes captures of the MultiScan apps for iOS and Android, in all modes.
enum MultiScanFamily: SyntheticFamily {
  static let name = "multiscan"
  static let generations = MultiScanGeneration.allCases.map(\.rawValue)
  static let generationsWithMotion = MultiScanGeneration.allCases.filter(\.hasMotion).map(
    \.rawValue)
  static let faults = MultiScanFaults.all.map(\.description)
  static let about = "1920x1440 color and 256x192 depth, 60 frames at 60 per second"

  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let generation = options.generation.flatMap(MultiScanGeneration.init(rawValue:)) ?? .iosLidar
    let frames = options.frames ?? 60
    guard frames >= (generation == .iosStereo ? 2 : generation == .androidARCore ? 8 : 1) else {
      throw SynthesisError("the generation '\(generation.rawValue)' needs more frames")
    }
    var plan = MultiScanPlan(generation: generation, frames: frames)
    let faults = try MultiScanFault.apply(
      options.faults, of: MultiScanFaults.all, to: &plan, form: (generation, generation.rawValue),
      frames: frames, leastFrames: 10, family: name)
    let size = generation.defaultDepthSize
    let depthWidth = options.depthWidth ?? size.width
    let depthHeight = options.depthHeight ?? size.height
    if generation.isLidar, (depthWidth, depthHeight) != (256, 192) {
      throw SynthesisError("depth of the LiDAR modes is always 256x192")
    }
    // Upright: if the app turns the movie, the stored picture is turned.
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1613.70, fy: 1613.70, cx: 941.38, cy: 727.04
    ).scaled(toWidth: options.width ?? 1920, height: options.height ?? 1440)
      .turnedClockwise(quarterTurns: generation.clockwiseQuarterTurns)
    let rig = Rig(
      options, color: color,
      depth: color.scaled(toWidth: depthWidth, height: depthHeight))
    let device = SeededNames.uuid(seed: options.seed, "device")
    let id = options.id ?? scanID(generation, device: device, seed: options.seed)
    let folder = try CaptureFolder(output: options.output, id: id, mayReplace: options.mayReplace)
    do {
      let writer = MultiScanWriter(
        id: id, plan: plan, options: options, folder: folder, rig: rig)
      let warnings = try writer.write(device: device, faults: faults)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: name, generation: generation.rawValue, folder: places.capture,
        truth: places.truth, frames: plan.canonicalFrames, warnings: warnings)
    } catch {
      folder.discard()
      throw error
    }
  }

  private static func scanID(
    _ generation: MultiScanGeneration, device: String, seed: UInt64
  ) -> String {
    let moment = SeededNames.moment(seed: seed)
    return switch generation {
    case .androidPlain:
      "\(moment.date(""))_\(moment.time(""))_\(SeededNames.hex(seed: seed, "device", count: 16))"
    case .androidARCore:
      "\(moment.date(""))T\(moment.time(""))+0200_\(SeededNames.hex(seed: seed, "device", count: 16))"
    default: "\(moment.date(""))T\(moment.time(""))-0800_\(device)"
    }
  }
}
