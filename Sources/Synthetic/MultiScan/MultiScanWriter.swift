import Core
import Media
import SystemPackage

/// Synthesizes captures of the MultiScan apps for iOS and Android, in all modes.
enum MultiScanFamily: String, SyntheticFamily {
  typealias Plan = MultiScanPlan
  typealias Clock = SampleClock

  case iosLidar = "ios-lidar"
  /// Metadata of 2020: other key names, five keys absent.
  case iosLidar2020 = "ios-lidar-2020"
  case iosSingle = "ios-single"
  case iosDual = "ios-dual"
  case iosStereo = "ios-stereo"
  case androidARCore = "android-arcore"
  case androidPlain = "android-plain"

  var isAndroid: Bool { self == .androidARCore || self == .androidPlain }
  var isLidar: Bool { self == .iosLidar || self == .iosLidar2020 }

  /// Whether camera info is written line by line.
  var hasCameraInfo: Bool { isLidar || self == .androidARCore }
  var hasDepth: Bool { hasCameraInfo || self == .iosStereo }
  var hasConfidence: Bool { hasCameraInfo }
  var hasMotion: Bool { !hasCameraInfo }

  /// The turn that makes stored pictures upright.
  var clockwiseQuarterTurns: Int { self == .androidPlain ? 1 : 0 }

  var defaultRate: Double { isAndroid || self == .iosStereo ? 30 : 60 }

  var defaultDepthSize: (width: Int, height: Int) {
    switch self {
    case .androidARCore: (160, 120)
    case .iosStereo: (640, 480)
    default: (256, 192)
    }
  }

  static let name = "multiscan"
  static let about = "1920x1440 color and 256x192 depth, 60 frames at 60 per second"
  static let latitude = 10.5
  static let longitude = 20.25

  func plan(frames: Int?) throws -> Plan {
    let frames = frames ?? 60
    guard frames >= (self == .iosStereo ? 2 : self == .androidARCore ? 8 : 1) else {
      throw SynthesisError("the generation '\(rawValue)' needs more frames")
    }
    return Plan(generation: self, frames: frames)
  }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) throws -> Setup {
    let generation = plan.generation
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
    let rate = options.rate ?? generation.defaultRate
    return (
      scanID(generation, seed: options.seed), rate,
      Rig(
        options, color: color, depth: color.scaled(toWidth: depthWidth, height: depthHeight)),
      SampleClock(rate: rate, jitterSeconds: 0.000_002, seed: options.seed)
    )
  }

  private static func scanID(_ generation: MultiScanFamily, seed: UInt64) -> String {
    let moment = SeededNames.moment(seed: seed)
    return switch generation {
    case .androidPlain:
      "\(moment.date(""))_\(moment.time(""))_\(SeededNames.hex(seed: seed, "device", count: 16))"
    case .androidARCore:
      "\(moment.date(""))T\(moment.time(""))+0200_\(SeededNames.hex(seed: seed, "device", count: 16))"
    default:
      "\(moment.date(""))T\(moment.time(""))-0800_\(SeededNames.uuid(seed: seed, "device"))"
    }
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(ofFrame: frame), work.taken(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let digests = try work.writeFrames(&truth)
    try work.writeCameraInfo()
    let samples = MultiScanSamples(work)
    for sensor in MultiScanSensor.all where !plan.missingMotion.contains(sensor.ending) {
      if let stored = samples.stored[sensor.ending] { try work.write(sensor, stored) }
    }
    if plan.hasMetadata {
      let ending = plan.generation == .androidPlain ? "txt" : "json"
      try work.write(work.metadata(samples), "\(work.id).\(ending)")
    }
    var expectation = work.expectation { work.recorded($0, motionStart: samples.rows.first?.time) }
    expectation.warnings = plan.warnings(
      expectation.frames, depthPixels: work.rig.depth.width * work.rig.depth.height)
    return work.found(expectation, digests, samples)
  }
}

extension Synthesis<MultiScanFamily> {
  func path(_ ending: String) -> FilePath { file("\(id).\(ending)") }

  /// Autofocus drifts only if intrinsics are stored for every frame.
  func colorCamera(_ frame: Int) -> PinholeCamera {
    camera.camera(plan.generation.hasCameraInfo ? frame : 0)
  }

  fileprivate func writeFrames(_ truth: inout TruthWriter) throws -> PictureDigests {
    let (generation, turns) = (plan.generation, plan.generation.clockwiseQuarterTurns)
    let form = VideoSink.Form(
      container: generation == .iosSingle || generation == .iosDual ? .mov : .mp4,
      bFrames: generation.isLidar ? 2 : 0, clockwiseQuarterTurns: turns)
    // The second lens of the dual mode shows the same picture here; nothing reads it.
    let videos = try (plan.hasVideo ? plan.videoEndings : []).map {
      try VideoSink(
        file("\(id)\($0)"), form, camera: rig.color.turnedClockwise(quarterTurns: turns),
        options: options)
    }
    var streams = try MultiScanStreams(
      plan: plan, depth: path("depth.zlib"), confidence: path("confidence.zlib"))
    try render(
      &truth, video: videos.first, camera: colorCamera,
      hasDepth: { generation.hasDepth && $0 >= plan.lateDepth }, hasPicture: { $0 < plan.pictures }
    ) { frame, view, picture in
      if let view { try streams.append(view) }
      guard let picture else { return }
      let stored = picture.stored(clockwiseQuarterTurns: turns)
      for video in videos { try video.append(stored, ticks: ticks(frame)) }
    }
    for video in videos { try video.finish(hasIndex: plan.hasVideoIndex) }
    return try streams.finish()
  }

  fileprivate func writeCameraInfo() throws {
    guard plan.generation.hasCameraInfo else { return }
    let file = try GrowingFile(path("jsonl"))
    // ARCore repeats the last line until depth is as long as the video.
    let lines = plan.frames + plan.lateDepth
    for line in 0..<lines {
      let bytes = try self.line(infoFacts(line)).bytes(escapingSlashes: true)
      let isCut = plan.cutsLastLine && line == plan.frames - 1
      if plan.brokenLines.contains(line) {
        try file.append(bytes.dropFirst(3))
      } else {
        try file.append(isCut ? bytes.prefix(bytes.count / 2) : bytes[...])
      }
      if !isCut { try file.append(plan.lineEnd) }
    }
    try file.close()
  }
}

/// Writes the depth and confidence files: consecutive frames in one DEFLATE stream, or in two.
private struct MultiScanStreams {
  private let plan: MultiScanPlan
  private let files: [GrowingFile]
  private var depth: DeflateStream?
  private var confidence: DeflateStream?
  private var digests = PictureDigests()
  private var lastDepth: [UInt8] = []
  private var lastConfidence: [UInt8] = []

  init(plan: MultiScanPlan, depth: FilePath, confidence: FilePath) throws {
    self.plan = plan
    let depth = try plan.writesDepth ? GrowingFile(depth) : nil
    let hasFile = plan.writesConfidence || plan.hasEmptyConfidence
    let confidence = try hasFile ? GrowingFile(confidence) : nil
    files = [depth, confidence].compactMap(\.self)
    self.depth = depth.map { DeflateStream($0, plan.depthFormat) }
    if !plan.hasEmptyConfidence {
      self.confidence = confidence.map { DeflateStream($0, plan.confidenceFormat) }
    }
  }

  /// Appends the measurements of a frame; frames must be in order.
  mutating func append(_ view: DepthView) throws {
    let number = view.frame - plan.lateDepth
    let (bytes, digest) = plan.depth(view.frame, meters: view.meters)
    lastDepth = bytes
    lastConfidence = plan.confidence(view.confidence)
    if number < plan.depthFrames {
      try depth?.append(bytes)
      if depth != nil { digests.depth.append(digest) }
    } else if number == plan.depthFrames, plan.endsInDepthFrame {
      try depth?.append(Array(bytes.prefix(bytes.count / 2)))
    }
    guard number < plan.confidenceFrames, plan.writesConfidence else { return }
    if plan.splitsConfidence, number == plan.frames / 2 { try confidence?.startNext() }
    try confidence?.append(lastConfidence)
    digests.confidence.append(confidence == nil ? nil : Digest(of: lastConfidence))
  }

  /// Completes both files.
  mutating func finish() throws -> PictureDigests {
    for _ in 0..<plan.lateDepth {
      try depth?.append(lastDepth)
      try confidence?.append(lastConfidence)
    }
    if plan.depthTailBytes > 0 {
      try depth?.append([UInt8](repeating: 0x33, count: plan.depthTailBytes))
    }
    try depth?.finish(hasEndMark: !plan.endsInDepthFrame)
    try confidence?.finish()
    for file in files { try file.close() }
    return digests
  }
}

/// Depth frames as the apps store them and as a reader decodes them.
extension MultiScanPlan {
  /// Number of bytes of a frame that the stereo mode's compressor stores correctly.
  static let compressorBytes = 262_144

  /// One frame of the stream and the digest of its millimeters.
  fileprivate func depth(_ number: Int, meters: [Float]) -> (bytes: [UInt8], digest: Digest) {
    let isOdd = number == nonFiniteFrame
    let meters = isOdd ? meters.with(.nan, .infinity, -.infinity, -0.5) : meters
    if generation == .androidARCore {
      let bytes = Bytes.of(meters.millimeters)
      return (bytes, Digest(of: bytes))
    }
    let halves = meters.map { Float16($0) }
    var bytes = Bytes.of(halves.map(\.bitPattern))
    var millimeters = halves.map { Core.millimeters(fromMeters: Double($0)) }
    if generation == .iosStereo { Self.spoil(&bytes, &millimeters) }
    return (bytes, Digest(of: Bytes.of(millimeters)))
  }

  /// Applies the stereo mode's defect: the second half of the first 256 KiB repeats to the end of
  /// the frame.
  private static func spoil(_ bytes: inout [UInt8], _ millimeters: inout [UInt16]) {
    guard bytes.count > compressorBytes else { return }
    let half = compressorBytes / 2
    for offset in compressorBytes..<bytes.count {
      bytes[offset] = bytes[half + (offset - compressorBytes) % half]
    }
    for pixel in (compressorBytes / 2)..<millimeters.count { millimeters[pixel] = 0 }
  }

  /// iOS counts 0…2, ARCore 0…255.
  fileprivate func confidence(_ values: [UInt8]) -> [UInt8] {
    generation == .androidARCore ? values.map { $0 &* 127 } : values
  }
}

/// The times at which frames of a MultiScan capture are taken and displayed.
extension Synthesis<MultiScanFamily> {
  /// The container's time of a picture: variable rate, from 0, in 1/600 s.
  fileprivate func ticks(_ picture: Int) -> Int64 {
    Int64((Double(taken(picture) - taken(0)) / 1e9 * 600).rounded())
  }

  /// Time in the scene of a frame. Modes without camera info have only the video's clock.
  func worldSeconds(ofFrame number: Int) -> Double {
    plan.generation.hasCameraInfo ? worldSeconds(taken(number)) : Double(ticks(number)) / 600
  }

  /// The time in camera info line `line`; lines after the last frame are ARCore's filler, in Unix time.
  func lineTime(_ line: Int) -> Int64 {
    line >= plan.frames
      ? 1_780_000_000_000_000_000 + Int64(line) * 1_000_003
      : taken(plan.damage.timedFrame(line))
  }

  /// The time that a reader gives a frame; `nil` = empty cell.
  func recorded(_ frame: Int, motionStart: Int64?) -> Int64? {
    if plan.generation.hasCameraInfo { return plan.hasLine(frame) ? lineTime(frame) : nil }
    guard frame < plan.readablePictures else { return nil }
    return VideoTimeBase(denominator: 600).nanoseconds(ofTicks: ticks(frame)).map {
      (motionStart ?? 0) + $0
    }
  }
}
