import Core
import Media
import SystemPackage

/// Synthesizes captures of Stray Scanner in all its generations.
enum StrayScannerFamily: String, SyntheticFamily {
  typealias Plan = StrayPlan
  typealias Clock = SampleClock

  case perFrameIntrinsics = "per-frame-intrinsics"
  case rawIMU = "raw-imu"
  case png
  case npy

  /// Accelerations are in g, and the gyroscope is raw.
  var isMotionInGravities: Bool { self == .perFrameIntrinsics || self == .rawIMU }

  var hasIntrinsicsPerFrame: Bool { self == .perFrameIntrinsics }

  var hasConfidence: Bool { self != .npy }

  var depthEncoding: String { self == .npy ? "npy-u16" : "png-u16" }

  var depthEnding: String { self == .npy ? "npy" : "png" }

  static let name = "stray-scanner"
  static let about =
    "1920x1440 color, 256x192 depth and confidence, 60 frames at 60 per second, sensors at 100 Hz"

  func plan(frames: Int?) -> Plan { Plan(generation: self, frames: frames ?? 60) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let color = PinholeCamera(
      width: 1920, height: 1440, fx: 1349.6, fy: 1349.6, cx: 955.37, cy: 717.71)
    let rate = options.rate ?? 60
    return (
      SeededNames.hex(seed: options.seed, "recording", count: 10), rate,
      Rig(options, color, depth: (256, 192)),
      SampleClock(rate: rate, jitterSeconds: 0.000_002, seed: options.seed)
    )
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let pictures = try work.writePictures(&truth)
    let rows = (0..<work.plan.frames).map { StrayRow(work, $0) }
    let motion = StrayMotion(work)
    try work.writeTables(rows, motion)
    let expectation = work.expectation(firstSample: motion.firstTime)
    return (work.expected(expectation, pictures, rows, motion), expectation.warnings)
  }
}

extension Synthesis<StrayScannerFamily> {
  /// The codec that devices write, if this FFmpeg can encode it.
  private var codec: VideoEncoderSettings.Codec { VideoEncoder.canEncode(.hevc) ? .hevc : .h264 }

  /// The camera of the last frame, which `camera_matrix.csv` holds.
  private var lastCamera: PinholeCamera { camera.camera(plan.frames - 1) }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> GrayPictureFiles {
    var form = VideoSink.Form(
      container: .mp4, codec: codec, bFrames: plan.hasBFrames ? 2 : 0)
    form.matrix = .bt709
    form.range = .limited
    let video = try self.video("rgb.mp4", form, isThere: !plan.pictures.isEmpty)
    var gray = GrayPictureFiles()
    try makeFolders()
    try render(
      max(plan.frames, plan.pictures.upperBound), &truth, video: video,
      at: { (worldSeconds($0), recorded($0) ?? 0) }, camera: camera.camera,
      hasDepth: { $0 < plan.frames }, hasPicture: plan.pictures.contains
    ) { frame, depth, picture in
      if let depth {
        try write(
          frame, depth: depth.sensor.depthImage(depth.meters, frame: frame),
          confidence: depth.sensor.confidenceImage(depth.meters), &gray)
      }
      if let picture { try video?.append(picture, ticks: ticks(frame)) }
    }
    try video?.finish()
    if plan.video == .withoutIndex { try MovieDamage.removeIndex(of: file("rgb.mp4")) }
    return gray
  }

  private func makeFolders() throws {
    if !plan.depth.isAbsent { try FileSystem.makeFolder(file("depth")) }
    if !plan.confidence.isAbsent {
      try FileSystem.makeFolder(file("confidence"))
    }
    if plan.depth.hasFarNumber {
      try write([], "depth/\(PictureFilesPlan.farNumber).\(plan.generation.depthEnding)")
    }
  }

  private func write(
    _ frame: Int, depth: DepthImage, confidence: GrayImage, _ gray: inout GrayPictureFiles
  ) throws {
    let name = Decimals.padded(frame, 6)
    if plan.generation != .npy {
      try write(gray.depth(depth, frame, of: plan.depth), "depth/\(name).png")
    } else {
      gray.note(depth, frame, of: plan.depth)
      if !plan.depth.isAbsent {
        try write(Self.array(depth, plan.depth.edits[frame]), "depth/\(name).npy")
      }
    }
    if !plan.depth.isAbsent, frame == plan.doubledFrame { try double(name, depth, &gray) }
    try write(gray.confidence(confidence, frame, of: plan.confidence), "confidence/\(name).png")
  }

  /// Moves the picture into a PNG and leaves an array of zeros.
  private func double(
    _ name: String, _ depth: DepthImage, _ gray: inout GrayPictureFiles
  ) throws {
    let zeros = DepthImage(
      width: depth.width, height: depth.height,
      millimeters: [UInt16](repeating: 0, count: depth.millimeters.count))
    try write(Self.array(zeros, nil), "depth/\(name).npy")
    try write(gray.depth(depth, nil), "depth/\(name).png")
  }

  /// A NumPy array of version 1; `nil` if none is written.
  private static func array(_ image: DepthImage, _ edit: PictureEdit?) throws -> [UInt8]? {
    func file(_ values: [UInt16], width: Int, height: Int) -> [UInt8] {
      var header =
        "{'descr': '<u2', 'fortran_order': False, 'shape': (\(height), \(width)), }"
      // Magic, version and length are ten bytes; the whole is a multiple of 64.
      header += String(repeating: " ", count: 63 - (header.utf8.count + 10) % 64) + "\n"
      return [0x93] + Array("NUMPY".utf8) + [1, 0] + Bytes.of(UInt16(header.utf8.count))
        + Array(header.utf8) + Bytes.of(values)
    }
    return try edit.file {
      file(image.millimeters, width: image.width, height: image.height)
    } otherSize: {
      file(
        GrayPictureFiles.halved(image.millimeters, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }

  fileprivate func expected(
    _ expectation: Expectation, _ pictures: GrayPictureFiles, _ rows: [StrayRow],
    _ motion: StrayMotion
  ) -> JSONObject {
    let kept = Set(plan.rows)
    let keptRows = rows.filter { kept.contains($0.frame) }
    let isColorUnreadable = plan.video == .withoutIndex
    var failing: [String] = []
    if isColorUnreadable { failing.append("color") }
    if plan.odometry == .withoutColumn { failing.append("tables") }
    // Samples cannot be assigned to frames without times.
    if plan.motion == .withoutColumn || plan.odometry == .withoutColumn { failing.append("imu") }
    return found(
      expectation, hashes(pictures.depthDigests), hashes(pictures.confidenceDigests),
      colorFrames: plan.readablePictures.count, hasColor: plan.readablePictures.contains,
      mustFail: failing, mayFail: isColorUnreadable ? ["aligned"] : []
    ).merging([
      "generation": foundGeneration.rawValue,
      "streams": [
        "color": color, "depth": depth,
        "confidence": plan.confidence.json(
          encoding: "png-u8", rig.depth, frames: 0..<plan.frames),
      ] as JSONObject,
      "poses": keptRows.compactMap(\.pose), "intrinsics": intrinsics(keptRows),
      "imu": motion.rows.json, "geo": [Int](),
    ])
  }

  /// The generation by the signs that are left.
  private var foundGeneration: StrayScannerFamily {
    if plan.generation == .perFrameIntrinsics {
      guard plan.odometry == .absent else { return .perFrameIntrinsics }
      return plan.motion == .present ? .rawIMU : .png
    }
    if plan.generation == .npy { return plan.depth.isAbsent ? .png : .npy }
    return plan.motion == .present ? plan.generation : .png
  }

  private func intrinsics(_ rows: [StrayRow]) -> [JSONRow] {
    let size = plan.readablePictures.isEmpty ? nil : rig.color.size
    return rows.compactMap { row in
      let own = plan.generation.hasIntrinsicsPerFrame ? row.ownCamera : nil
      return (own ?? (plan.hasMatrix ? lastCamera : nil))?.roundedToSingle.row(row.frame, size)
    }
  }

  private var color: JSONObject? {
    guard !plan.readablePictures.isEmpty else { return nil }
    return rig.color.stream("rgb.mp4", codec.rawValue, frames: plan.readablePictures.count)
  }

  private var depth: JSONObject? {
    guard let files = plan.depth.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": plan.doubledFrame == nil ? plan.generation.depthEncoding : nil,
      "width": rig.depth.width, "height": rig.depth.height,
      "frames": files,
    ]
  }
}

/// Writes the three tables of a Stray Scanner capture. Every cell but the first has a leading
/// blank.
extension Synthesis<StrayScannerFamily> {
  fileprivate func writeTables(_ rows: [StrayRow], _ motion: StrayMotion) throws {
    if plan.odometry != .absent { try writeRows(rows) }
    if plan.motion != .absent { try writeMotion(motion) }
    if plan.hasMatrix { try writeMatrix() }
  }

  private func writeRows(_ rows: [StrayRow]) throws {
    var columns = StrayRow.columns(plan.generation)
    if plan.odometry == .withoutColumn { columns[6] = "q2" }
    let file = try GrowingFile(file("odometry.csv"))
    try file.append(Self.line(columns))
    for row in rows where plan.rowEdits[row.frame] != .absent {
      let line = Self.line(row.cells(plan.generation))
      if plan.cutsLastRow, row.frame == plan.frames - 1 {
        try file.append(Self.half(line))
        break
      }
      try file.append(line)
      if plan.rowEdits[row.frame] == .repeated {
        try file.append(Self.line(row.cells(plan.generation, isSecond: true)))
      }
    }
    try file.close()
  }

  private func writeMotion(_ motion: StrayMotion) throws {
    var columns = ["timestamp", "a_x", "a_y", "a_z", "alpha_x", "alpha_y", "alpha_z"]
    if plan.motion == .withoutColumn { columns[6] = "beta" }
    let file = try GrowingFile(file("imu.csv"))
    try file.append(Self.line(columns))
    if plan.motion != .headerAlone {
      for (index, sample) in motion.samples.enumerated() {
        let line = Self.line(motion.cells(index, sample))
        let isCut = plan.cutsLastSample && index == motion.samples.count - 1
        try file.append(isCut ? Self.half(line) : line)
      }
    }
    try file.close()
  }

  /// The app writes no line end at the end of this file.
  private func writeMatrix() throws {
    let texts = StrayRow.texts(lastCamera)
    let text = """
      \(texts[0]), 0.0, \(texts[2])
      0.0, \(texts[1]), \(texts[3])
      0.0, 0.0, 1.0
      """
    try write(text, "camera_matrix.csv")
  }

  private static func line(_ cells: [String]) -> String { cells.joined(separator: ", ") + "\n" }

  private static func half(_ line: String) -> String { String(line.prefix(line.count / 2)) }
}
