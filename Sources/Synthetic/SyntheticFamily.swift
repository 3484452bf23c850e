import Core
import Media
import SystemPackage

/// An app family of which captures can be synthesized. Its values are the generations; the first one is the default.
protocol SyntheticFamily: CaseIterable, RawRepresentable<String>, Sendable {
  associatedtype Plan: SyntheticPlan
  /// What the times of frames are computed from.
  associatedtype Clock
  typealias Fault = PlannedFault<Self, Plan>
  /// The capture's name by the seed, frames per second, the scene with its cameras, and the clock of frames.
  typealias Setup = (id: String, rate: Double, rig: Rig, clock: Clock)
  /// Seconds of the scene, and the time that the capture states.
  typealias FrameTimes = (seconds: Double, recorded: Int64?)
  /// Members of `expected.json` beside those of every family, and what a reader must report.
  typealias Found = (expected: JSONObject, warnings: WarningTally)

  /// The name as elsewhere in the program: `scannet`.
  static var name: String { get }
  static var plannedFaults: [Fault] { get }
  /// Least number of frames for faults that state none.
  static var leastFrames: Int { get }
  /// The default capture, described in one line.
  static var about: String { get }
  /// Whether the generation has samples of motion sensors.
  var hasMotion: Bool { get }
  /// An intact capture. Throws for a number of frames that the generation cannot have.
  func plan(frames: Int?) throws -> Plan
  /// Throws for sizes that the family cannot have.
  static func setup(_ plan: Plan, _ options: SynthesisOptions) throws -> Setup
  /// When a frame is taken.
  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes
  /// Writes the capture's files. Memory grows with the number of frames only by a few numbers per frame.
  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found
}

extension SyntheticFamily {
  static var generations: [String] { allCases.map(\.rawValue) }
  static var faults: [SyntheticFault] { plannedFaults.map(\.description) }
  static var leastFrames: Int { 10 }
  var hasMotion: Bool { true }

  /// Writes a capture and its truth.
  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture {
    let name = options.generation ?? generations[0]
    guard let generation = Self(rawValue: name) else {
      throw SynthesisError(
        "no generation '\(name)' in \(Self.name); known: \(generations.joined(separator: ", "))")
    }
    try options.check()
    guard options.imuOffsetSeconds == 0 || generation.hasMotion else {
      throw SynthesisError(
        "\(Self.name) \(name) has no motion sensors that an IMU offset could shift")
    }
    var plan = try generation.plan(frames: options.frames)
    let faults = try Fault.apply(
      options.faults, of: plannedFaults, to: &plan, form: generation, frames: plan.frames,
      leastFrames: leastFrames, family: Self.name)
    let (made, rate, rig, clock) = try setup(plan, options)
    let id = options.id ?? made
    let folder = try CaptureFolder(
      output: options.output, id: id, ending: plan.fileEnding, mayReplace: options.mayReplace)
    do {
      let work = Synthesis<Self>(
        plan: plan, generation: name, options: options, faults: faults, id: id, rate: rate,
        rig: rig, clock: clock, folder: folder,
        camera: DriftingCamera(rig.color, seed: options.seed))
      var truth = try TruthWriter(
        folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
        progress: options.progress)
      let found = try write(work, &truth)
      try truth.finish(expected: work.expected(found), truth: work.truth)
      let places = try folder.publish()
      return SyntheticCapture(
        id: id, family: Self.name, generation: name, folder: places.capture, truth: places.truth,
        frames: plan.canonicalFrames, warnings: found.warnings.entries)
    } catch {
      folder.discard()
      throw error
    }
  }
}

/// What a capture contains in addition to pictures and samples: faults change it, the writer follows it, and
/// the expectation is computed from it.
protocol SyntheticPlan {
  /// Number of rendered frames.
  var frames: Int { get }
  /// Number of frames that a reader finds.
  var canonicalFrames: Int { get }
  var hasDepthCamera: Bool { get }
  /// The ending of a capture that is one file, without dot.
  var fileEnding: String? { get }
}

extension SyntheticPlan {
  var canonicalFrames: Int { frames }
  var hasDepthCamera: Bool { true }
  var fileEnding: String? { nil }
}

/// A plan of a capture with poses.
protocol TrackedPlan: SyntheticPlan, SendableMetatype {
  var damage: FrameDamage { get set }
  /// Whether a reader finds the picture of a frame.
  func hasColor(_ frame: Int) -> Bool
  func hasDepth(_ frame: Int) -> Bool
}

/// Damage to the times and poses of frames.
struct FrameDamage {
  /// How far tracking relocalizes at once, meters.
  static let jump = Vector3(1.5, 0, -1)

  /// Number of camera frames that are missing in all streams after a frame.
  var gap: (afterFrame: Int, frames: Int)?
  /// The frame whose time is exchanged with that of the next one.
  var swappedFrame: Int?
  /// The frame that has the time of the one before.
  var repeatedFrame: Int?
  /// The first frame after tracking was lost, and by how many times `jump` it is off.
  var poseJump: (frame: Int, factor: Double)?

  /// The place of a frame among those of the camera.
  func cameraFrame(_ frame: Int) -> Int {
    guard let gap, frame > gap.afterFrame else { return frame }
    return frame + gap.frames
  }

  /// The frame whose time stands at the place of a frame.
  func timedFrame(_ frame: Int) -> Int {
    if frame == swappedFrame { return frame + 1 }
    return frame - 1 == swappedFrame || frame == repeatedFrame ? frame - 1 : frame
  }

  /// How far a frame's pose is off.
  func shift(_ frame: Int) -> Vector3 {
    guard let poseJump, frame >= poseJump.frame else { return .zero }
    return Self.jump * poseJump.factor
  }
}

/// One capture while it is written: what it contains, what was asked for, and where it goes.
struct Synthesis<Family: SyntheticFamily> {
  let plan: Family.Plan
  let generation: String
  let options: SynthesisOptions
  let faults: [SyntheticFault]
  let id: String
  /// Frames per second.
  let rate: Double
  let rig: Rig
  let clock: Family.Clock
  let folder: CaptureFolder
  let camera: DriftingCamera

  var depthRenderer: DepthRenderer { DepthRenderer(room: rig.room, camera: rig.depth) }

  var colorRenderer: ColorRenderer {
    ColorRenderer(
      room: rig.room, camera: rig.color,
      settings: PictureSettings(
        exposureSeconds: options.exposureSeconds, noiseSteps: 1.2 * options.noise,
        showsFrameCode: options.showsFrameCode),
      seed: options.seed)
  }

  /// The place of a file or folder of the capture.
  func file(_ name: String) -> FilePath { folder.capture.pushing(FilePath(name)) }

  /// Writes a file of the capture; nothing without bytes.
  func write(_ bytes: [UInt8]?, _ name: String) throws {
    if let bytes { try OutputFile.write(bytes, to: file(name)) }
  }

  func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }

  /// Begins a video; `nil` unless it is there.
  func video(
    _ name: String, _ form: VideoSink.Form, camera: PinholeCamera? = nil, isThere: Bool = true
  ) throws -> VideoSink? {
    guard isThere else { return nil }
    return try VideoSink(file(name), form, camera: camera ?? rig.color, options: options)
  }

  /// The digests by frame as a reader has them; none of a stream that is not there.
  ///
  /// - Parameter first: the frame of the first digest.
  func hashes(_ digests: [Digest?], from first: Int = 0) -> [String?] {
    guard !digests.isEmpty else { return [] }
    return (0..<plan.canonicalFrames).map {
      digests.indices.contains($0 - first) ? digests[$0 - first]?.hex : nil
    }
  }

  /// The motion sensors that move with the color camera.
  func inertialSensors(clockwiseQuarterTurns: Int = 0) -> InertialSensors {
    InertialSensors(
      motion: rig.motion, clockwiseQuarterTurns: clockwiseQuarterTurns, noise: options.noise,
      offsetSeconds: options.imuOffsetSeconds, seed: options.seed)
  }

  /// Renders exact depth and color, frame by frame, and records both in the truth.
  ///
  /// - Parameters:
  ///   - frames: their number, if not that of the plan.
  ///   - camera: the color camera of a frame, if autofocus does not change it; the depth camera sees the same.
  ///   - take: gets what was rendered of a frame.
  func render(
    frames: Int? = nil, _ truth: inout TruthWriter, video: VideoSink? = nil,
    camera: ((Int) -> PinholeCamera)? = nil, hasDepth: (Int) -> Bool = { _ in true },
    hasPicture: (Int) -> Bool = { _ in true },
    _ take: (_ frame: Int, _ depth: DepthView?, _ picture: ColorImage?) throws -> Void
  ) throws {
    var exact = depthRenderer
    var renderer = colorRenderer
    for frame in 0..<(frames ?? plan.frames) {
      let (seconds, recorded) = Family.times(of: frame, in: self)
      let (state, nanoseconds) = (rig.motion.state(at: seconds), recorded ?? 0)
      renderer.camera = camera?(frame) ?? self.camera.camera(frame)
      var (depth, picture): (DepthView?, ColorImage?)
      if hasDepth(frame) {
        exact.camera = renderer.camera.scaled(toWidth: rig.depth.width, height: rig.depth.height)
        exact.render(state.viewpoint())
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact,
          color: renderer.camera)
        let sensor = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        depth = DepthView(frame: frame, sensor: sensor, exact: exact.meters)
      }
      if hasPicture(frame) {
        renderer.reuse(video?.spare())
        picture = renderer.render(frame: frame, state: state)
        try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
      }
      try take(frame, depth, picture)
    }
  }

  /// The numbers that the pictures show, by frame; `null` unless they show some.
  func frameCodes(_ frames: Int, where hasPicture: (Int) -> Bool = { _ in true }) -> [Int?]? {
    options.showsFrameCode ? (0..<frames).map { hasPicture($0) ? $0 : nil } : nil
  }

  /// What a reader must find.
  func expected(_ found: Family.Found) -> JSONObject {
    let common: JSONObject = [
      "description": faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; "),
      "family": Family.name, "generation": generation, "id": id,
      "warnings": found.warnings.json,
    ]
    return common.merging(found.expected)
  }

  /// How the capture was made, with everything needed to make it again.
  var truth: JSONObject {
    // Inner corners of the scene: every wall is a plane of this box.
    let corners = Room.corners(seed: options.seed)
    let mount = rig.depthMount
    let colorFromDepth = RigidTransform(
      rotation: mount.colorFromCamera.rowMajor, translation: mount.position.array)
    return [
      "schema": 1, "family": Family.name, "generation": generation,
      "id": id, "seed": "\(options.seed)", "frames": plan.frames,
      "rateHz": rate, "noise": options.noise,
      "exposureSeconds": options.exposureSeconds, "quality": options.quality,
      "showsFrameCode": options.showsFrameCode,
      "faults": faults.map { ["name": $0.name, "summary": $0.summary] },
      "axes":
        "world: y up, meters; cameras: x right, y down, z forward; pixel centers at integers",
      "colorCamera": rig.color.json,
      "depthCamera": plan.hasDepthCamera ? rig.depth.json : nil,
      "colorFromDepth": plan.hasDepthCamera ? colorFromDepth.rowMajor : nil,
      "room": [
        "low": corners.low.array, "high": corners.high.array,
        "isEmpty": options.roomIsEmpty,
      ] as JSONObject,
      "files": [
        "expected.json": "what a reader must find",
        "color_poses.csv": "pose of the color camera at the time of each picture",
        "depth_poses.csv": "pose of the color camera at the time of each depth frame",
        "depth": "exact depth in the depth camera, millimeters, without noise and quantization",
        "aligned":
          "exact depth along the color camera's axis at the time of the depth frame, millimeters",
      ],
    ]
  }
}

extension Synthesis where Family.Plan: TrackedPlan {
  /// What the app stores about a frame.
  func facts(_ frame: Int) -> FrameFacts {
    let (seconds, recorded) = Family.times(of: frame, in: self)
    let state = rig.motion.state(at: seconds)
    return FrameFacts(
      frame: frame, time: recorded,
      transform: state.arkitTransform(shiftedBy: plan.damage.shift(frame)).map(Double.init),
      camera: camera.camera(frame), exposureSeconds: options.shownExposureSeconds)
  }

  /// The times that a reader must find.
  func expectation(time: (Int) -> Int64?) -> Expectation {
    var expectation = Expectation()
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        time(frame), hasColor: plan.hasColor(frame), hasDepth: plan.hasDepth(frame))
    }
    return expectation
  }

  /// What `expected.json` states about frames and streams, and that tables which the app does not record are empty.
  ///
  /// - Parameters:
  ///   - first: the frame of the first digests.
  ///   - pictures: their number where picture k is frame k; by default those of the plan.
  ///   - own: what the family adds.
  func found(
    _ expectation: Expectation, _ digests: PictureDigests, from first: Int = 0,
    pictures: Int? = nil, mustFail: [String] = [], mayFail: [String] = [], _ own: JSONObject
  ) -> Family.Found {
    let frames = plan.canonicalFrames
    let common: JSONObject = [
      "frames": frames, "depthSha256": hashes(digests.depth, from: first),
      "confidenceSha256": hashes(digests.confidence, from: first),
      "colorFrames": pictures ?? (0..<frames).count(where: plan.hasColor),
      "colorCode": FrameCode.howToRead,
      "colorIndex": pictures.map { frameCodes($0) } ?? frameCodes(frames, where: plan.hasColor),
      "timestampsNs": expectation.times, "imu": nil, "cameraSettings": [Int](),
      "mustFail": mustFail, "mayFail": mayFail, "exitCode": mustFail.isEmpty ? 0 : 1,
    ]
    return (common.merging(own), expectation.warnings)
  }
}

extension Synthesis where Family.Plan: TrackedPlan, Family.Clock == SampleClock {
  /// Nanoseconds of the clock when the picture of a frame was taken.
  func taken(_ frame: Int) -> Int64 { clock.nanoseconds(of: plan.damage.cameraFrame(frame)) }
}

/// What an app stores about one frame, and a reader finds.
struct FrameFacts {
  var frame: Int
  /// The recorded time, nanoseconds.
  var time: Int64?
  /// Camera to world by columns, ARKit axes.
  var transform: [Double]
  var camera: PinholeCamera
  let exposureSeconds: Double

  var pose: Pose? { Pose(arkitColumnMajor: transform) }

  /// The row of `poses.csv`.
  var poseRow: JSONRow? { pose?.row(frame, time) }

  /// The transform by rows.
  var rows: [[Double]] { (0..<4).map { row in (0..<4).map { transform[$0 * 4 + row] } } }
}

extension Synthesis where Family.Clock == SampleClock {
  /// Time in the scene of a time of the device, seconds.
  func worldSeconds(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds - clock.startNanoseconds) / 1e9
  }

  func worldSeconds(ofUptime seconds: Double) -> Double {
    seconds - Double(clock.startNanoseconds) / 1e9
  }
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

  private static func named(_ family: String) -> (any SyntheticFamily.Type)? {
    all.first { $0.name == family }
  }

  /// The default family: the first.
  public static let usual = names.first ?? ""

  /// The generations of a family; `nil` when there is no such family.
  public static func generations(of family: String) -> [String]? {
    named(family)?.generations
  }

  /// The faults that a family knows; `nil` when there is no such family.
  public static func faults(of family: String) -> [SyntheticFault]? {
    named(family)?.faults
  }

  /// A description of a family's default capture; `nil` when there is no such family.
  public static func about(_ family: String) -> String? {
    named(family)?.about
  }

  /// Writes a capture and its truth below `options.output`.
  ///
  /// Throws `SynthesisError` for impossible requests, `FileError` and `VideoError` for failed
  /// writes.
  public static func write(
    _ family: String, _ options: SynthesisOptions
  ) throws -> SyntheticCapture {
    guard let chosen = named(family) else {
      throw SynthesisError(
        "no family '\(family)'; known: \(names.joined(separator: ", "))")
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
}
