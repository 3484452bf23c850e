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

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let digests = try work.writeFrames(&truth)
    try work.writeCameraInfo()
    let samples = MultiScanSamples(work)
    for file in MultiScanMotion.files where !plan.missingMotion.contains(file.fileExtension) {
      guard let stored = samples.stored[file.fileExtension] else { continue }
      try MultiScanMotion(plan: plan).write(
        file, to: work.path(file.fileExtension), samples: stored)
    }
    if plan.hasMetadata {
      let name = plan.generation == .androidPlain ? "txt" : "json"
      try work.write(work.metadata(samples), "\(work.id).\(name)")
    }
    let expectation = work.expectation(motionStart: samples.start)
    return (work.expected(expectation, digests, samples), expectation.warnings)
  }
}

/// Digests of the frames' content.
struct MultiScanDigests {
  var depth: [Digest] = []
  var confidence: [Digest] = []
}

extension Synthesis<MultiScanFamily> {
  fileprivate func path(_ name: String) -> FilePath { folder.capture.appending("\(id).\(name)") }

  /// Autofocus drifts only if intrinsics are stored for every frame.
  func colorCamera(_ frame: Int) -> PinholeCamera {
    camera.camera(plan.generation.hasCameraInfo ? frame : 0)
  }

  fileprivate func writeFrames(_ truth: inout TruthWriter) throws -> MultiScanDigests {
    let videos = try MultiScanVideos(self)
    var streams = try MultiScanStreams(
      plan: plan, depth: path("depth.zlib"), confidence: path("confidence.zlib"))
    try render(
      plan.frames, &truth, video: videos.primary,
      at: { (worldSeconds(ofFrame: $0), taken($0)) }, camera: colorCamera,
      hasDepth: { plan.generation.hasDepth && $0 >= plan.lateDepth },
      hasPicture: { $0 < plan.pictures }
    ) { frame, view, picture in
      if let view {
        try streams.append(
          frame, meters: view.sensor.measure(view.meters, frame: frame),
          confidence: view.sensor.confidence(view.meters))
      }
      if let picture { try videos.append(picture, ticks: ticks(frame)) }
    }
    try videos.finish()
    return try streams.finish()
  }

  fileprivate func writeCameraInfo() throws {
    guard plan.generation.hasCameraInfo else { return }
    let file = try GrowingFile(path("jsonl"))
    // ARCore repeats the last line until depth is as long as the video.
    let lines = plan.frames + plan.lateDepth
    for line in 0..<lines {
      let bytes = try MultiScanCameraInfo(self, line).line.bytes(escapingSlashes: true)
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

/// Writes the video of a MultiScan capture, or both of the dual mode.
struct MultiScanVideos {
  private let plan: MultiScanPlan
  private(set) var primary: VideoSink?
  private var secondary: VideoSink?
  private let primaryPath: FilePath

  init(_ work: Synthesis<MultiScanFamily>) throws {
    plan = work.plan
    let generation = plan.generation
    var form = VideoSink.Form(
      container: generation == .iosSingle || generation == .iosDual ? .mov : .mp4,
      bFrames: generation.isLidar ? 2 : 0)
    form.clockwiseQuarterTurns = generation.clockwiseQuarterTurns
    let stored = work.rig.color.turnedClockwise(quarterTurns: generation.clockwiseQuarterTurns)
    let isDual = generation == .iosDual
    let name = isDual ? "\(work.id)-primary.mp4" : "\(work.id).mp4"
    primaryPath = work.file(name)
    primary = try work.video(name, form, camera: stored, isThere: plan.hasVideo)
    secondary = try work.video(
      "\(work.id)-secondary.mp4", form, camera: stored, isThere: plan.hasVideo && isDual)
  }

  /// Appends an upright picture.
  func append(_ upright: ColorImage, ticks: Int64) throws {
    let picture = PictureTurn.stored(
      upright, clockwiseQuarterTurns: plan.generation.clockwiseQuarterTurns)
    try primary?.append(picture, ticks: ticks)
    // The second lens shows the same picture here; nothing reads it.
    try secondary?.append(picture, ticks: ticks)
  }

  func finish() throws {
    try primary?.finish()
    try secondary?.finish()
    if primary != nil, !plan.hasVideoIndex { try MovieDamage.removeIndex(of: primaryPath) }
  }
}

/// Writes the depth and confidence files.
struct MultiScanStreams {
  private let plan: MultiScanPlan
  private var depth: MultiScanDeflateFile?
  private var confidence: MultiScanDeflateFile?
  private var digests = MultiScanDigests()
  private var lastDepth: [UInt8] = []
  private var lastConfidence: [UInt8] = []
  private let confidencePath: FilePath

  init(plan: MultiScanPlan, depth: FilePath, confidence: FilePath) throws {
    self.plan = plan
    confidencePath = confidence
    if plan.generation.hasDepth, plan.hasDepthFile {
      self.depth = try MultiScanDeflateFile(depth, format: plan.depthFormat)
    }
    if plan.generation.hasConfidence, plan.hasConfidenceFile, !plan.hasEmptyConfidence {
      self.confidence = try MultiScanDeflateFile(confidence, format: plan.confidenceFormat)
    }
  }

  /// Appends the measurements of frame `frame`; frames must be in order.
  mutating func append(_ frame: Int, meters: [Float], confidence values: [UInt8]) throws {
    let number = frame - plan.lateDepth
    let (bytes, digest) = plan.depth(frame, meters: meters)
    lastDepth = bytes
    lastConfidence = plan.confidence(values)
    if number < plan.depthFrames {
      try depth?.append(bytes)
      if depth != nil { digests.depth.append(digest) }
    } else if number == plan.depthFrames, plan.endsInDepthFrame {
      try depth?.append(Array(bytes.prefix(bytes.count / 2)))
    }
    if number < plan.confidenceFrames, confidence != nil {
      if plan.splitsConfidence, number == plan.frames / 2 { try confidence?.startNextStream() }
      try confidence?.append(lastConfidence)
      digests.confidence.append(Digest(of: lastConfidence))
    }
  }

  /// Completes both files.
  mutating func finish() throws -> MultiScanDigests {
    for _ in 0..<plan.lateDepth {
      try depth?.append(lastDepth)
      try confidence?.append(lastConfidence)
    }
    if plan.depthTailBytes > 0 {
      try depth?.append([UInt8](repeating: 0x33, count: plan.depthTailBytes))
    }
    try depth?.finish(hasEndMark: !plan.endsInDepthFrame)
    try confidence?.finish()
    if plan.hasEmptyConfidence { try OutputFile.write([], to: confidencePath) }
    return digests
  }
}

/// Writes a `.zlib` file: consecutive frames in one DEFLATE stream, or in two.
struct MultiScanDeflateFile {
  private let file: GrowingFile
  private var encoder: DeflateEncoder
  private let format: DeflateFormat

  init(_ path: FilePath, format: DeflateFormat) throws {
    file = try GrowingFile(path)
    self.format = format
    encoder = DeflateEncoder(format: format)
  }

  mutating func append(_ bytes: [UInt8]) throws {
    var output: [UInt8] = []
    try encoder.append(bytes.span.bytes, to: &output)
    try file.append(output)
  }

  /// Ends the stream and begins another.
  mutating func startNextStream() throws {
    var output: [UInt8] = []
    try encoder.finish(to: &output)
    try file.append(output)
    encoder = DeflateEncoder(format: format)
  }

  /// Completes the file, with or without the stream's end mark. Without it a few of the last pixels
  /// are lost.
  mutating func finish(hasEndMark: Bool = true) throws {
    var output: [UInt8] = []
    try encoder.finish(to: &output)
    if !hasEndMark { output.removeLast(min(3, output.count)) }
    try file.append(output)
    try file.close()
  }
}

/// Depth frames as the apps store them and as a reader decodes them.
extension MultiScanPlan {
  /// Number of bytes of a frame that the stereo mode's compressor stores correctly.
  static let compressorBytes = 262_144

  /// One frame of the stream and the digest of its millimeters.
  fileprivate func depth(_ number: Int, meters: [Float]) -> (bytes: [UInt8], digest: Digest) {
    var meters = meters
    if number == nonFiniteFrame {
      for (index, value) in [Float.nan, .infinity, -.infinity, -0.5].enumerated() {
        meters[index * 7] = value
      }
    }
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
  /// True time of a camera frame, nanoseconds of uptime.
  func taken(_ frame: Int) -> Int64 { clock.nanoseconds(of: plan.damage.cameraFrame(frame)) }

  /// The container's time of a picture: variable rate, from 0, in 1/600 s.
  private func ticks(_ picture: Int) -> Int64 {
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
