import Core
import Media
import SystemPackage

/// Synthesizes captures of the ScanNet app: metadata, depth, video, motion sensors, camera
/// settings.
enum ScanNetFamily: String, SyntheticFamily {
  typealias Plan = ScanNetPlan
  typealias Clock = SampleClock

  case v1

  static let name = "scannet"
  static let leastFrames = 3
  static let about = "1296x968 color and 640x480 depth, 90 frames at 30 per second"
  static let deviceName = "Lab\u{2019}s iPad"
  static let sceneType = "Bedroom / Hotel"

  func plan(frames: Int?) -> Plan { Plan(frames: frames ?? 90) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) throws -> Setup {
    let (color, depth) = cameras(options)
    if !plan.hasText, depth.size != (640, 480) {
      throw SynthesisError("without metadata depth can only be 640x480")
    }
    let moment = SeededNames.moment(seed: options.seed)
    let device = SeededNames.uuid(seed: options.seed, "device")
    let rate = options.rate ?? 30
    return (
      "\(moment.date())_\(moment.time())__\(device)", rate,
      Rig(options, color: color, depth: depth, depthMount: plan.depthMount),
      SampleClock(rate: rate, jitterSeconds: 0.0004, seed: options.seed)
    )
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(work.depthTime(frame)), work.depthTime(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let digests = try work.writeFrames(&truth)
    let samples = try work.writeInertial()
    try work.writeCamera()
    if plan.hasText { try work.write(work.text(samples.count), "\(work.id).txt") }
    let expectation = work.expectation(plan.hasInertial ? samples.map(\.time) : [])
    return (work.expected(expectation, digests, samples), expectation.warnings)
  }
}

extension Synthesis<ScanNetFamily> {
  var moment: SeededNames.Moment { SeededNames.moment(seed: options.seed) }
  var device: String { SeededNames.uuid(seed: options.seed, "device") }

  /// Writes depth and color; returns the digest of each depth frame's millimeters, `nil` for a
  /// damaged one.
  fileprivate func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
    let depthFile = try GrowingFile(file("\(id).depth"))
    let form = VideoSink.Form(container: .annexB)
    let video = try self.video("\(id).h264", form, isThere: plan.hasColor)
    // A bare stream stores no times, but the encoder's rate control uses them.
    let ticksPerFrame = Double(form.ticksPerSecond) / rate
    var exact = depthRenderer
    let sensor = StructureSensor(camera: rig.depth, noise: options.noise, seed: options.seed)
    var renderer = colorRenderer
    var digests: [Digest?] = []
    for frame in 0..<plan.frames {
      let depthTime = self.depthTime(frame)
      let depthState = rig.motion.state(at: worldSeconds(depthTime))
      if frame < plan.depthFrames + (plan.endsInPayload ? 1 : 0) {
        exact.render(depthState.viewpoint(rig.depthMount))
        let shifts = sensor.measure(exact.meters, frame: frame)
        let payload = StructureShift.encode(shifts)
        if frame < plan.depthFrames {
          let isDamaged = plan.damagedPayloads.contains(frame)
          try depthFile.append(UInt32(payload.count))
          try depthFile.append(
            isDamaged ? Self.spoiled(payload, pixelCount: shifts.count) : payload)
          digests.append(isDamaged ? nil : Self.digest(ofShifts: shifts))
        } else {
          try depthFile.append(UInt32(payload.count))
          try depthFile.append(payload.prefix(payload.count / 2))
        }
        try truth.recordDepth(
          frame: frame, nanoseconds: depthTime, state: depthState, exact: exact)
      }
      guard let video, !plan.lostPictures.contains(frame) else { continue }
      let colorTime = self.colorTime(frame)
      let colorState = rig.motion.state(at: worldSeconds(colorTime))
      renderer.reuse(video.spare())
      try video.append(
        renderer.render(frame: frame, state: colorState),
        ticks: Int64((Double(frame) * ticksPerFrame).rounded()))
      try truth.recordColor(frame: frame, nanoseconds: colorTime, state: colorState)
    }
    try video?.finish()
    try writeTimes(to: depthFile)
    try depthFile.close()
    return digests
  }

  private func writeTimes(to file: GrowingFile) throws {
    var blocks: [UInt8] = []
    for block in 0..<plan.timeBlocks {
      for entry in 0..<plan.timeEntries {
        let time = block == 0 ? recordedDepth(entry) : recordedColor(entry)
        blocks += Bytes.of(time.bitPattern)
      }
    }
    if let kept = plan.timeBytesKept { blocks.removeLast(max(0, blocks.count - kept)) }
    // Bytes that a reader cannot take for another payload.
    blocks += [UInt8](repeating: 0xee, count: plan.trailingBytes)
    try file.append(blocks)
  }

  /// Writes the samples in file order.
  fileprivate func writeInertial() throws -> MotionSamples {
    let file = try plan.hasInertial ? GrowingFile(self.file("\(id).imu")) : nil
    if plan.hasInertialHead { try file?.append(Double(clock.startNanoseconds) / 1e9 - 0.3) }
    let samples = motionSamples(inertialTimes)
    for (time, sample) in samples {
      try file?.append(Double(time) / 1e9)
      for vector in [
        sample.rotationRate, sample.userAcceleration, sample.magneticField, sample.attitude,
        sample.gravity,
      ] {
        for value in vector.array { try file?.append(value) }
      }
    }
    try file?.append([UInt8](repeating: 0x33, count: plan.inertialPartialBytes))
    try file?.close()
    return samples
  }

  fileprivate func writeCamera() throws {
    guard plan.hasCamera else { return }
    let file = try GrowingFile(self.file("\(id).camera"))
    try file.append(plan.cameraTag)
    for frame in 0..<plan.cameraRecords {
      for value in cameraRecord(frame) { try file.append(value) }
    }
    try file.append([UInt8](repeating: 0x33, count: plan.cameraTrailingBytes))
    try file.close()
  }

  /// The payload with one byte changed, so that every decoder notices it.
  private static func spoiled(_ payload: [UInt8], pixelCount: Int) -> [UInt8] {
    var shifts = [UInt16](repeating: 0, count: pixelCount)
    for offset in stride(from: payload.count / 3, to: payload.count, by: 1) {
      var spoiled = payload
      spoiled[offset] ^= 0x5a
      var span = shifts.mutableSpan
      if (try? StructureShift.decode(spoiled.span.bytes, into: &span)) == nil { return spoiled }
    }
    return Array(repeating: 0, count: payload.count)
  }

  private static func digest(ofShifts shifts: [UInt16]) -> Digest {
    Digest(of: Bytes.of(shifts.map { StructureShift.millimeters(ofShift: $0) }))
  }
}

/// A depth camera with a projected pattern, like the Structure Sensor, which measures shifts of the
/// pattern rather than distances.
///
/// Modeled: quantization to whole shifts, noise in patches of the size of a matching window,
/// shadows of the projector beside near objects, range limits, dropouts that grow with distance.
/// Noise 0 leaves quantization, shadows and range.
struct StructureSensor {
  let camera: PinholeCamera
  /// Deviation of a shift: the part shared by a patch, and that of each pixel.
  private let patchDeviation: Float
  private let pixelDeviation: Float
  private let noise: Double
  private let key: UInt64
  /// The value for no measurement.
  static let nothing: UInt16 = 2047
  private static let range = 0.35...6.0
  /// Distance from projector to camera, meters; the projector is on the right.
  private static let baseline = 0.075
  private static let patchWidth = 8
  private static let patchHeight = 4
  private static let bands = 16

  /// `noise` 1 = as measured on such sensors.
  init(camera: PinholeCamera, noise: Double, seed: UInt64) {
    self.camera = camera
    self.noise = noise
    patchDeviation = Float(0.45 * noise)
    pixelDeviation = Float(0.14 * noise)
    var random = SeededRandom(seed: seed, "structure sensor")
    key = random.next()
  }

  /// The shifts of a frame; `meters` are exact distances along the optical axis in raster order.
  func measure(_ meters: [Double], frame: Int) -> [UInt16] {
    precondition(meters.count == camera.width * camera.height)
    var shifts = [UInt16](repeating: Self.nothing, count: meters.count)
    withConcurrentRowBands(
      of: &shifts, rows: camera.height, rowLength: camera.width, bands: Self.bands
    ) { rows, shifts in
      var isLit = [Bool](repeating: false, count: camera.width)
      for row in rows {
        let exact = meters.span.extracting((row * camera.width)..<((row + 1) * camera.width))
        light(exact, into: &isLit)
        let start = (row - rows.lowerBound) * camera.width
        measureRow(row, frame: frame, exact, isLit.span, into: &shifts, at: start)
      }
    }
    return shifts
  }

  /// Finds the pixels that the projector reaches: those that no nearer point hides, as seen from
  /// the projector.
  private func light(_ meters: Span<Double>, into isLit: inout [Bool]) {
    let scale = camera.fx * Self.baseline
    var leftmost = Double.infinity
    for column in stride(from: meters.count - 1, through: 0, by: -1) {
      let place = Double(column) - scale / meters[column]
      isLit[column] = place <= leftmost + 0.5
      leftmost = min(leftmost, place)
    }
  }

  private func measureRow(
    _ row: Int, frame: Int, _ meters: Span<Double>, _ isLit: Span<Bool>,
    into shifts: inout MutableSpan<UInt16>, at start: Int
  ) {
    let values = NoiseTable.values
    let table = values.span
    let mask = (1 << NoiseTable.indexBits) - 1
    var patches = SeededRandom(key: key, frame: frame, row: row / Self.patchHeight)
    var pixels = SeededRandom(key: key &+ 1, frame: frame, row: row)
    var patchNoise: Float = 0
    var patchChance = 1.0
    for column in 0..<meters.count {
      if column % Self.patchWidth == 0 {
        let bits = patches.next()
        patchNoise = patchDeviation * table[Int(truncatingIfNeeded: bits) & mask]
        patchChance = Double(bits >> 32) * 0x1p-32
      }
      let bits = pixels.next()
      let exact = meters[column]
      guard isLit[column], Self.range.contains(exact) else { continue }
      // Dropouts: 0.1 % near, 2 % at four meters.
      guard patchChance >= noise * (0.001 + 0.0003 * exact * exact * exact) else { continue }
      let shift =
        Self.shift(ofMeters: exact)
        + Double(patchNoise + pixelDeviation * table[Int(truncatingIfNeeded: bits) & mask])
      let rounded = shift.rounded(.toNearestOrAwayFromZero)
      if rounded >= 1, rounded <= Double(StructureShift.lastMeasuredShift) {
        shifts[start + column] = UInt16(rounded)
      }
    }
  }

  /// The shift whose table entry is this distance, before rounding.
  static func shift(ofMeters meters: Double) -> Double {
    (6809 - 1799.999 / meters) / 6
  }
}

extension Synthesis<ScanNetFamily> {
  /// One record of camera settings (white balance, exposure, sensitivity), which drift as indoors.
  func cameraRecord(_ frame: Int) -> [Float] {
    let turn = Trigonometry.sine(Double(frame) * 0.05)
    return [
      Float(Decimals.round(1.9 + 0.1 * turn, 2)), 1, Float(Decimals.round(2.1 - 0.1 * turn, 2)),
      Float(options.shownExposureSeconds), Float(200 + (frame * 7) % 60),
    ]
  }

  /// The metadata file: `key = value`, six decimals.
  fileprivate func text(_ samples: Int) -> String {
    let (color, depth) = (rig.color, rig.depth)
    var pairs: [(String, String)] = [
      ("colorWidth", "\(color.width * plan.declaredColorScale)"),
      ("colorHeight", "\(color.height * plan.declaredColorScale)"),
      ("depthWidth", "\(depth.width)"),
      ("depthHeight", "\(depth.height)"),
      ("fx_color", number(color.fx)),
      ("fy_color", number(color.fy)),
      ("mx_color", number(color.cx)),
      ("my_color", number(color.cy)),
      ("fx_depth", number(depth.fx)),
      ("fy_depth", number(depth.fy)),
      ("mx_depth", number(depth.cx)),
      ("my_depth", number(depth.cy)),
      // The app writes a blank after the last number.
      ("colorToDepthExtrinsics", plan.depthFromColor.rowMajor.map { number($0) + " " }.joined()),
      ("deviceId", device),
      ("deviceName", ScanNetFamily.deviceName),
      ("sceneLabel", plan.sceneLabel),
      ("sceneType", ScanNetFamily.sceneType),
      ("userName", "tester"),
      ("appVersionId", "Scanner.v1.20190409143822"),
    ]
    if plan.hasClosingKeys {
      pairs += [
        ("scanSavedAt", "\(moment.date(""))T\(moment.time(""))+0100"),
        ("numDepthFrames", "\(plan.declaredDepth)"),
        ("numColorFrames", "\(plan.declaredColor)"),
        ("numIMUmeasurements", "\(samples + plan.declaredInertialSurplus)"),
      ]
    }
    let lines =
      pairs.filter { !plan.removedKeys.contains($0.0) }.map { "\($0.0) = \($0.1)" }
      + plan.addedLines
    return lines.map { $0 + plan.lineEnd }.joined()
  }

  private func number(_ value: Double) -> String { Decimals.text(value, 6) }
}
