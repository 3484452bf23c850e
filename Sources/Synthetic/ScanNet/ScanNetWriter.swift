import Media
import Core
import SystemPackage

/// Writes the five files of a ScanNet capture, frame by frame.
struct ScanNetWriter {
  private let id: String
  private let plan: ScanNetPlan
  private let cameras: ScanNetCameras
  private let options: SynthesisOptions
  private let folder: CaptureFolder
  private let rig: Rig
  private let times: ScanNetTimes
  private let rate: Double

  init(
    id: String, plan: ScanNetPlan, cameras: ScanNetCameras, options: SynthesisOptions,
    folder: CaptureFolder
  ) throws {
    self.id = id
    self.plan = plan
    self.cameras = cameras
    self.options = options
    self.folder = folder
    rate = options.rate ?? 30
    rig = Rig(
      options, color: cameras.color, depth: cameras.depth,
      depthMount: cameras.depthMount)
    times = ScanNetTimes(plan: plan, rate: rate, seed: options.seed)
  }

  /// Writes everything; returns the warnings that a reader must report.
  func write(
    device: String, moment: SeededNames.Moment, faults: [SyntheticFault]
  ) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let digests = try writeFrames(&truth)
    let inertialTimes = times.inertial
    let inertial = try writeInertial(inertialTimes)
    try writeCamera()
    let text = ScanNetText(
      plan: plan, color: cameras.color, depth: cameras.depth,
      depthFromColor: cameras.depthFromColor, deviceID: device, moment: moment,
      inertialSamples: inertialTimes.count)
    if !plan.missingFiles.contains(.text) {
      try OutputFile.write(Array(text.text.utf8), to: path(.text))
    }
    let report = ScanNetReport(
      id: id, plan: plan, cameras: cameras, options: options, rate: rate, device: device,
      moment: moment, faults: faults,
      expectation: ScanNetExpectation(plan: plan, times: times, inertialTimes: inertialTimes),
      depthDigests: digests, inertial: inertial)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func path(_ file: ScanNetPlan.File) -> FilePath {
    folder.capture.appending("\(id).\(file.rawValue)")
  }

  /// Writes depth and color; returns the digest of each depth frame's millimeters, `nil` for a
  /// damaged one.
  private func writeFrames(_ truth: inout TruthWriter) throws -> [Digest?] {
    let depthFile = try GrowingFile(path(.depth))
    let form = VideoSink.Form(container: .annexB)
    let video =
      plan.missingFiles.contains(.color)
      ? nil : try VideoSink(path(.color), form, camera: rig.color, options: options)
    // A bare stream stores no times, but the encoder's rate control uses them.
    let ticksPerFrame = Double(form.ticksPerSecond) / rate
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    let sensor = StructureSensor(camera: rig.depth, noise: options.noise, seed: options.seed)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    var digests: [Digest?] = []
    for frame in 0..<plan.frames {
      let depthTime = times.depth(frame)
      let depthState = rig.motion.state(at: times.worldSeconds(depthTime))
      if frame < plan.depthFrames + (plan.endsInPayload ? 1 : 0) {
        exact.render(depthState.viewpoint(rig.depthMount))
        let shifts = sensor.measure(exact.meters, frame: frame)
        let payload = StructureShiftEncoder.encode(shifts)
        if frame < plan.depthFrames {
          let isDamaged = plan.damagedPayloads.contains(frame)
          try depthFile.append(UInt32(payload.count))
          try depthFile.append(
            isDamaged ? ScanNetDamage.spoil(payload, pixelCount: shifts.count) : payload)
          digests.append(isDamaged ? nil : Self.digest(ofShifts: shifts))
        } else {
          try depthFile.append(UInt32(payload.count))
          try depthFile.append(payload.prefix(payload.count / 2))
        }
        try truth.recordDepth(
          frame: frame, nanoseconds: depthTime, state: depthState, exact: exact)
      }
      guard let video, !plan.lostPictures.contains(frame) else { continue }
      let colorTime = times.color(frame)
      let colorState = rig.motion.state(at: times.worldSeconds(colorTime))
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
        let time = block == 0 ? times.recordedDepth(entry) : times.recordedColor(entry)
        blocks += Bytes.of(time.bitPattern)
      }
    }
    if let kept = plan.timeBytesKept { blocks.removeLast(max(0, blocks.count - kept)) }
    // Bytes that a reader cannot take for another payload.
    blocks += [UInt8](repeating: 0xee, count: plan.trailingBytes)
    try file.append(blocks)
  }

  /// Writes the samples in file order; returns a reader's rows.
  private func writeInertial(_ sampleTimes: [Int64]) throws -> ScanNetInertialRows {
    let file = plan.missingFiles.contains(.inertial) ? nil : try GrowingFile(path(.inertial))
    if plan.hasInertialHead { try file?.append(Double(times.base) / 1e9 - 0.3) }
    var sensors = InertialSensors(
      motion: rig.motion, noise: options.noise, offsetSeconds: options.imuOffsetSeconds,
      seed: options.seed)
    var rows = ScanNetInertialRows()
    for time in sampleTimes {
      let sample = sensors.sample(at: times.worldSeconds(time))
      try file?.append(Double(time) / 1e9)
      for vector in [
        sample.rotationRate, sample.userAcceleration, sample.magneticField, sample.attitude,
        sample.gravity,
      ] {
        for value in vector.array { try file?.append(value) }
      }
      rows.add(nanoseconds: time, sample)
    }
    try file?.append([UInt8](repeating: 0x33, count: plan.inertialPartialBytes))
    try file?.close()
    return rows
  }

  private func writeCamera() throws {
    guard !plan.missingFiles.contains(.camera) else { return }
    let file = try GrowingFile(path(.camera))
    try file.append(plan.cameraTag)
    for frame in 0..<plan.cameraRecords {
      for value in ScanNetCameraRecord(
        frame: frame, exposureSeconds: options.exposureSeconds
      ).values {
        try file.append(value)
      }
    }
    try file.append([UInt8](repeating: 0x33, count: plan.cameraTrailingBytes))
    try file.close()
  }

  private static func digest(ofShifts shifts: [UInt16]) -> Digest {
    Digest(of: Bytes.of(shifts.map { StructureShiftTable.millimeters(ofShift: $0) }))
  }
}

/// Damage that every decoder notices.
enum ScanNetDamage {
  /// The payload with one byte changed, so that it cannot be decoded.
  static func spoil(_ payload: [UInt8], pixelCount: Int) -> [UInt8] {
    var shifts = [UInt16](repeating: 0, count: pixelCount)
    for offset in stride(from: payload.count / 3, to: payload.count, by: 1) {
      var spoiled = payload
      spoiled[offset] ^= 0x5a
      var span = shifts.mutableSpan
      if case .corrupt = StructureShiftDecoder.decode(spoiled.span.bytes, into: &span) {
        return spoiled
      }
    }
    return Array(repeating: 0, count: payload.count)
  }
}
