import Core

/// An app family of which captures can be synthesized.
protocol SyntheticFamily: Sendable {
  /// The name as elsewhere in the program: `scannet`.
  static var name: String { get }
  /// The first one is the default.
  static var generations: [String] { get }
  /// Generations with samples of motion sensors.
  static var generationsWithMotion: [String] { get }
  static var faults: [SyntheticFault] { get }
  /// The default capture, described in one line.
  static var about: String { get }
  /// Writes a capture and its truth. Memory grows with the number of frames only by a few numbers
  /// per frame.
  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture
}

/// All families. Synthesizes captures by family name.
public enum SyntheticFamilies {
  static let all: [any SyntheticFamily.Type] = [
    ScanNetFamily.self, ARKitScannerFamily.self, MultiScanFamily.self, VISLAMFamily.self,
    StraboFamily.self, StrayScannerFamily.self, ThreeDScannerAppFamily.self, Record3DFamily.self,
    PolycamFamily.self,
  ]

  /// Names of the families in the order of the help text.
  public static var names: [String] { all.map { $0.name } }

  /// The default family: the first.
  public static let usual = names.first ?? ""

  /// The generations of a family; `nil` when there is no such family.
  public static func generations(of family: String) -> [String]? {
    all.first { $0.name == family }?.generations
  }

  /// The faults that a family knows; `nil` when there is no such family.
  public static func faults(of family: String) -> [SyntheticFault]? {
    all.first { $0.name == family }?.faults
  }

  /// A description of a family's default capture; `nil` when there is no such family.
  public static func about(_ family: String) -> String? {
    all.first { $0.name == family }?.about
  }

  /// Writes a capture and its truth below `options.output`.
  ///
  /// Throws `SynthesisError` for impossible requests, `FileError` and `VideoError` for failed
  /// writes.
  public static func write(
    _ family: String, _ options: SynthesisOptions
  ) throws -> SyntheticCapture {
    guard let chosen = all.first(where: { $0.name == family }) else {
      throw SynthesisError(
        "no family '\(family)'; known: \(names.joined(separator: ", "))")
    }
    if let generation = options.generation, !chosen.generations.contains(generation) {
      throw SynthesisError(
        "no generation '\(generation)' in \(family); known: \(chosen.generations.joined(separator: ", "))"
      )
    }
    try options.check()
    let generation = options.generation ?? chosen.generations.first ?? ""
    if options.imuOffsetSeconds != 0, !chosen.generationsWithMotion.contains(generation) {
      throw SynthesisError(
        "\(family) \(generation) has no motion sensors that an IMU offset could shift")
    }
    return try chosen.write(options)
  }
}

extension SynthesisOptions {
  /// Throws for values that no camera has.
  func check() throws {
    func check(_ what: String, _ value: Double?, _ range: ClosedRange<Double>) throws {
      guard let value, !range.contains(value) else { return }
      func text(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
      }
      throw SynthesisError(
        "\(what) must be \(text(range.lowerBound)) to \(text(range.upperBound)), not \(text(value))"
      )
    }
    try check("the number of frames", frames.map { Double($0) }, 1...1_000_000)
    try check("the rate", rate, 1...240)
    for (what, size) in [
      ("width", width), ("height", height), ("depth width", depthWidth),
      ("depth height", depthHeight),
    ] {
      try check("the \(what)", size.map { Double($0) }, 16...8192)
    }
    // Chroma is stored at half the size.
    for (what, size) in [("width", width), ("height", height)] {
      if let size, size % 2 != 0 { throw SynthesisError("the \(what) must be even") }
    }
    try check("the noise", noise, 0...20)
    try check("the IMU offset", imuOffsetSeconds, -10...10)
    try check("the exposure", exposureSeconds, 0...1)
    try check("the quality", quality.map { Double($0) }, 0...51)
    try check("the number of truth pictures", Double(truthPictures), 0...1_000_000)
    if let id {
      guard !id.isEmpty, !id.contains("/"), id != ".", id != "..", id.utf8.count <= 200 else {
        throw SynthesisError("'\(id)' is no name for a folder")
      }
    }
  }

  var pictureSettings: PictureSettings {
    PictureSettings(
      exposureSeconds: exposureSeconds, noiseSteps: 1.2 * noise, showsFrameCode: showsFrameCode)
  }
}

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
