import Core
import Media
import SystemPackage

extension ARKitScannerFamily {
  typealias Plan = ScannerPlan
  typealias Clock = SampleClock

  static let name = "arkit-scanner"
  static let about = "1920x1440 color and 256x192 depth, 60 frames at 60 per second"

  func plan(frames: Int?) -> Plan { Plan(generation: self, frames: frames ?? 60) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) throws -> Setup {
    guard (options.depthWidth ?? 256, options.depthHeight ?? 192) == (256, 192) else {
      throw SynthesisError("depth of this family is always 256x192")
    }
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1457.02, fy: 1457.02, cx: 960.68, cy: 718.84)
    let moment = SeededNames.moment(seed: options.seed)
    let rate = options.rate ?? 60
    // The clock passes 100,000 s in the middle of the capture, where the text order of keys is wrong.
    let half = Int64(Double(plan.frames / 2) / rate * 1e9)
    return (
      "lab 101 \(moment.date()) \(moment.time())", rate, Rig(options, color, depth: (256, 192)),
      SampleClock(
        startNanoseconds: 100_000_000_000_000 - half, rate: rate, jitterSeconds: 0.000_004,
        seed: options.seed, "frames")
    )
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(ofUptime: work.uptimeSeconds(frame)), work.recorded(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let depthDigests = try work.writeFrames(&truth)
    let motion = work.motionSamples
    try work.writeSideFiles(motion)
    // The times of a killed recording come from its exif file, whose last entry is cut.
    let timed = plan.isKilled ? plan.frames - 1 : plan.keys
    var expectation = work.expectation { $0 < timed ? work.recorded($0) : nil }
    expectation.warnings = plan.warnings(expectation.frames)
    let known = plan.isKilled ? [] : (0..<plan.frames).map(work.shownFacts)
    let poses = known.compactMap(plan.generation == .scannetpp ? work.alignedRow : work.poseRow)
    let rows = work.motionRows(motion)
    return work.found(
      expectation, PictureDigests(depth: depthDigests), pictures: plan.readablePictures,
      mustFail: plan.isKilled && plan.hasVideo ? ["color"] : [],
      mayFail: plan.isKilled ? ["aligned"] : [],
      [
        "streams": [
          "color": plan.hasVideo
            ? work.rig.color.stream(
              plan.generation.videoFile, "h264", frames: plan.readablePictures) : nil,
          "depth": work.rig.depth.stream(
            plan.generation.depthFile, plan.encoding, frames: plan.depthFrames.count),
          "imu": plan.isKilled || rows.isEmpty ? nil : ["samples": rows.counts],
          "poses": plan.isKilled ? nil : ["frames": poses.count],
        ] as JSONObject,
        "poses": poses,
        "intrinsics": known.map { $0.camera.roundedToSingle.row($0.frame, work.rig.color.size) },
        "imu": plan.isKilled ? nil : rows.json, "cameraSettings": known.map(work.settingsRow),
      ])
  }
}

extension Synthesis<ARKitScannerFamily> {
  fileprivate func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
    let form = VideoSink.Form(
      container: plan.generation == .scannetpp ? .matroska : .mp4, bFrames: 2, range: .limited,
      matrix: .bt709)
    let video = try self.video(plan.generation.videoFile, form, isThere: plan.hasVideo)
    var depth = try ScannerDepthWriter(
      file(plan.generation.depthFile), plan: plan, seed: options.seed)
    try render(
      frames: max(plan.frames, plan.pictures), &truth, video: video,
      hasDepth: { $0 < plan.frames }, hasPicture: { _ in plan.hasVideo }
    ) { frame, view, picture in
      if let view { try depth.append(frame: frame, meters: view.meters) }
      // The app's video clock counts pictures: 1/60 s each, regardless of dropped frames.
      if let picture { try video?.append(picture, ticks: Int64(frame) * 10) }
    }
    try video?.finish(hasIndex: !plan.isKilled)
    try depth.finish()
    return depth.digests
  }

  fileprivate func motionRows(_ motion: ScannerSamples) -> [MotionRow] {
    motion.flatMap { _, nanoseconds, sample in
      guard let nanoseconds else { return [MotionRow]() }
      var sample = sample
      // The app never requests a calibrated magnetic field.
      sample.magneticField = .zero
      let rows = sample.rows(nanoseconds)
      return plan.generation == .scannetpp ? Array(rows[1...3]) : rows
    }
  }

  fileprivate func settingsRow(_ own: FrameFacts) -> JSONRow {
    let hasExif = plan.generation.hasExif && !plan.emptyExif.contains(own.frame)
    return [
      own.frame, hasExif ? own.exposureSeconds : nil, hasExif ? Self.iso(own.frame) : nil,
      plan.generation == .scannetpp ? nil : Double("\(Self.offset(own.frame))") ?? 0,
    ]
  }
}

extension ScannerPlan {
  /// What a reader must report, by the rules of the format.
  fileprivate func warnings(_ times: [Int64?]) -> WarningTally {
    var warnings = WarningTally(namesSubjects: false)
    countFrames(&warnings, times)
    countDepth(&warnings)
    guard !isKilled else { return warnings }
    let depth = depthFrames.count
    let color = hasVideo ? pictures : nil
    warnings.addLengths([("depth", depth), ("color", color)], expected: frames)
    warnings.addDifference(color: color, depth: depth)
    return warnings
  }

  private func countFrames(_ warnings: inout WarningTally, _ times: [Int64?]) {
    if generation.hasTimes { warnings.addSteps(times) }
    if !generation.hasTimes || isKilled {
      warnings.add(
        "timestamps-missing",
        generation.hasTimes ? times.count { $0 == nil } : canonicalFrames)
    }
    warnings.add("pose-jump", damage.poseJump != nil)
    warnings.add("non-finite-value", nanPoseFrame != nil)
    warnings.add("missing-file", !hasVideo)
    if isKilled {
      warnings.add("missing-file", 4)
      warnings.add("imu-missing")
      warnings.add("calibration-missing")
      warnings.add("truncated-stream")
      warnings.add("pairing-approximate", times.count { $0 != nil })
      return
    }
    warnings.add("imu-missing", !hasMotion)
    if declaredColorScale != 1, hasVideo { warnings.add("size-mismatch") }
    warnings.add("size-mismatch", hasStrangeDepthSize)
  }

  private func countDepth(_ warnings: inout WarningTally) {
    let edits = recordEdits.filter { $0.key < frames - (endsInRecord ? 1 : 0) }
    warnings.add("empty-record", edits.count { $0.value == .empty })
    warnings.add(
      "corrupt-record",
      edits.count { [.noise, .short, .otherFraming].contains($0.value) })
    if edits.contains(where: { $0.value == .otherEncoding }) { warnings.add("mixed-encodings") }
    warnings.add("non-finite-value", nonFiniteFrame != nil)
    let isRaw = generation.depthLayout == .raw
    if endsInRecord { warnings.add(isRaw ? "trailing-data" : "truncated-stream") }
    warnings.add("trailing-data", trailingBytes > 0)
  }
}

/// What an ARKit-Scanner capture contains in addition to pictures and samples.
struct ScannerPlan: TrackedPlan {
  /// How a depth record is damaged.
  enum RecordEdit {
    /// The record is not written: later records move up.
    case absent
    case empty
    case noise
    /// Decodes to fewer pixels than a frame.
    case short
    /// Apple's other LZ4 framing.
    case otherFraming
    /// Float meters in a file of millimeters.
    case otherEncoding
  }

  let generation: ARKitScannerFamily
  /// Number of entries in the side files.
  let frames: Int

  var recordEdits: [Int: RecordEdit] = [:]
  /// The last record, or the last frame of the single stream, is cut.
  var endsInRecord = false
  var trailingBytes = 0
  /// The length of the first record makes the file begin like an empty DEFLATE stream.
  var looksLikeDeflate = false
  /// A frame of float depth with non-finite values.
  var nonFiniteFrame: Int?

  var surplusPictures = 0
  var hasVideo = true
  /// The app was killed: no side files, no video index, an exif file that is not closed.
  var isKilled = false

  var damage = FrameDamage()
  var nanPoseFrame: Int?
  var hasMotion = true
  /// Frames whose exif entry is `{}`.
  var emptyExif: Set<Int> = []
  var declaredColorScale = 1
  var hasStrangeDepthSize = false

  var pictures: Int { hasVideo ? frames + surplusPictures : 0 }

  /// Frames whose depth record is written, including damaged ones.
  var depthFrames: [Int] {
    (0..<(frames - (endsInRecord ? 1 : 0))).filter { recordEdits[$0] != .absent }
  }

  /// Number of side file entries that a reader finds.
  var keys: Int { isKilled ? 0 : frames }

  /// Number of pictures that a reader can decode.
  var readablePictures: Int { isKilled ? 0 : pictures }

  var canonicalFrames: Int { max(keys, depthFrames.count, readablePictures) }

  func hasColor(_ frame: Int) -> Bool { frame < readablePictures }

  /// Records are counted as they lie in the file.
  func hasDepth(_ frame: Int) -> Bool {
    let records = depthFrames
    return frame < records.count && [nil, .otherEncoding].contains(recordEdits[records[frame]])
  }

  var encoding: String {
    recordEdits.values.contains(.otherEncoding) ? "mixed" : generation.encoding
  }
}

/// Writes the depth file of an ARKit-Scanner capture, frame by frame.
struct ScannerDepthWriter {
  private let plan: ScannerPlan
  private let file: GrowingFile
  private var stream: DeflateStream?
  private var noise: SeededRandom
  /// Digest of each record's millimeters; `nil` for one that cannot be decoded.
  private(set) var digests: [Digest?] = []

  init(_ path: FilePath, plan: ScannerPlan, seed: UInt64) throws {
    self.plan = plan
    file = try GrowingFile(path)
    stream = plan.generation.depthLayout == .stream ? DeflateStream(file, .raw) : nil
    noise = SeededRandom(seed: seed, "damaged records")
  }

  /// Appends a frame; `meters` are the sensor's measurements.
  mutating func append(frame: Int, meters: [Float]) throws {
    let isOdd = frame == plan.nonFiniteFrame
    let meters = isOdd ? meters.with(.nan, .infinity, -.infinity, -0.5, 70) : meters
    let isCut = plan.endsInRecord && frame == plan.frames - 1
    guard !plan.generation.isFramed else {
      return try appendRecord(frame: frame, meters: meters, isCut: isCut)
    }
    let bytes = Self.bytes(meters)
    let part = isCut ? Array(bytes.prefix(bytes.count / 2)) : bytes
    if stream == nil { try file.append(part) } else { try stream?.append(part) }
    if !isCut { digests.append(Self.digest(meters.millimeters)) }
  }

  /// Completes the file.
  mutating func finish() throws {
    try stream?.finish(hasEndMark: !plan.endsInRecord)
    try file.append([UInt8](repeating: 0x01, count: plan.trailingBytes))
    try file.close()
  }

  private mutating func appendRecord(frame: Int, meters: [Float], isCut: Bool) throws {
    let edit = plan.recordEdits[frame]
    if edit == .absent { return }
    var millimeters = meters.millimeters
    if frame == 0, plan.looksLikeDeflate { try makeLookalike(&millimeters) }
    let record = try self.record(meters: meters, millimeters: millimeters, edit: edit)
    try file.append(Int32(record.count))
    if isCut {
      try file.append(record.prefix(record.count / 2))
      return
    }
    try file.append(record)
    let isWhole = edit == nil || edit == .otherEncoding
    digests.append(isWhole ? Self.digest(millimeters) : nil)
  }

  private mutating func record(
    meters: [Float], millimeters: [UInt16], edit: ScannerPlan.RecordEdit?
  ) throws -> [UInt8] {
    let isFloat = plan.generation.depthLayout == .deflate
    switch edit {
    case .empty, .absent: return []
    case .noise:
      // All bits set: an LZ4 literal run beyond the end, and an invalid DEFLATE block type.
      return (0..<4000).map { _ in UInt8(truncatingIfNeeded: noise.next()) | 0xf7 }
    case .short:
      return isFloat
        ? try DeflateEncoder.compress(Self.bytes(Array(meters.dropLast(999))), format: .raw)
        : try lz4(Array(millimeters.dropLast(999)))
    case .otherFraming:
      let block = try lz4(millimeters)
      return Array("bv41".utf8) + Bytes.of(UInt32(millimeters.count * 2))
        + Bytes.of(UInt32(block.count)) + block + Array("bv4$".utf8)
    case .otherEncoding:
      return try DeflateEncoder.compress(Self.bytes(meters), format: .raw)
    case nil:
      return isFloat
        ? try DeflateEncoder.compress(Self.bytes(meters), format: .raw) : try lz4(millimeters)
    }
  }

  /// Changes single pixels by a millimeter until the low ten bits of the block's length are 0x003:
  /// a final DEFLATE block with fixed codes that ends at once.
  private mutating func makeLookalike(_ millimeters: inout [UInt16]) throws {
    for _ in 0..<20_000 {
      if try lz4(millimeters).count & 0x3ff == 0x003 { return }
      let pixel = noise.index(below: millimeters.count)
      millimeters[pixel] ^= 1
    }
    throw SynthesisError("no length of the first record looks like DEFLATE; try another seed")
  }

  private func lz4(_ millimeters: [UInt16]) throws -> [UInt8] {
    let bytes = Bytes.of(millimeters)
    guard let block = LZ4Block.encode(bytes.span.bytes) else {
      throw SynthesisError("liblz4 refuses a depth frame")
    }
    return block
  }

  private static func bytes(_ meters: [Float]) -> [UInt8] {
    meters.flatMap { Bytes.of($0.bitPattern) }
  }

  private static func digest(_ millimeters: [UInt16]) -> Digest {
    Digest(of: Bytes.of(millimeters))
  }
}

/// The times of an ARKit-Scanner capture's frames, and the text of their keys.
extension Synthesis<ARKitScannerFamily> {
  /// True time of a frame in seconds of device uptime, finer than nanoseconds.
  func uptimeSeconds(_ frame: Int) -> Double {
    Double(taken(frame)) / 1e9 + 0.37e-9
  }

  func key(_ frame: Int) -> String {
    switch plan.generation.keys {
    case .times, .fileNames: "\(uptimeSeconds(frame))"
    case .numbers: "\(frame)"
    case .released: "frame_\(frame.padded(6))"
    }
  }

  /// The time that a reader computes from a frame's key, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    switch plan.generation.keys {
    case .numbers:
      Int64((Double(frame) * 1e9 / 60).rounded(.toNearestOrAwayFromZero))
    default: Timestamp(decimalSeconds: "\(uptimeSeconds(frame))")?.nanoseconds
    }
  }

  /// The motion samples that the app stored: the latest before each frame, without duplicates; none
  /// for the first two frames (except in the release). Keyed by the sample's own time, or by the
  /// frame's number.
  fileprivate var motionSamples: ScannerSamples {
    guard plan.hasMotion else { return [] }
    var sensors = inertialSensors()
    var samples: ScannerSamples = []
    let keys = plan.generation.keys
    let first = keys == .released ? 0 : 2
    for frame in first..<max(first, plan.frames) {
      // Motion is sampled at 100 Hz and delivered some milliseconds late.
      let uptime = ((uptimeSeconds(frame) - 0.004) * 100).rounded(.down) / 100
      let isFrames = keys == .numbers || keys == .released
      let text = isFrames ? key(frame) : "\(uptime)"
      guard samples.last?.key != text else { continue }
      let time = isFrames ? recorded(frame) : Timestamp(decimalSeconds: text)?.nanoseconds
      samples.append((text, time, sensors.sample(at: worldSeconds(ofUptime: uptime))))
    }
    return samples
  }
}
