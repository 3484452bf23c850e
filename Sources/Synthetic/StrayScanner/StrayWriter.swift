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

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.worldSeconds(work.taken(frame)), work.recorded(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    let digests = try work.writePictures(&truth)
    let motion = work.motionCells
    try work.writeTables(motion)
    let motionRows = work.motionRows(motion)
    var expectation = work.expectation { plan.hasRow($0) ? work.recorded($0) : nil }
    expectation.warnings = plan.warnings(expectation.frames, motionRows.first?.time)
    let rows = (0..<plan.frames).filter(plan.hasRow)
    let isColorUnreadable = plan.video == .withoutIndex
    let hasTimes = plan.odometry != .withoutColumn
    // Samples cannot be assigned to frames without times.
    let failing = [
      isColorUnreadable ? "color" : nil, hasTimes ? nil : "tables",
      plan.motion == .withoutColumn || !hasTimes ? "imu" : nil,
    ]
    return work.found(
      expectation, digests, mustFail: failing.compactMap(\.self),
      mayFail: isColorUnreadable ? ["aligned"] : [],
      [
        "generation": plan.foundGeneration.rawValue, "streams": work.streams,
        "poses": rows.compactMap(work.poseRow), "intrinsics": rows.compactMap(work.cameraRow),
        "imu": motionRows.json, "geo": [Int](),
      ])
  }
}

extension Synthesis<StrayScannerFamily> {
  /// The codec that devices write, if this FFmpeg can encode it.
  private var codec: VideoEncoderSettings.Codec { VideoEncoder.canEncode(.hevc) ? .hevc : .h264 }

  /// The camera of the last frame, which `camera_matrix.csv` holds.
  private var lastCamera: PinholeCamera { camera.camera(plan.frames - 1) }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws -> PictureDigests {
    let form = VideoSink.Form(
      container: .mp4, codec: codec, bFrames: plan.hasBFrames ? 2 : 0, range: .limited,
      matrix: .bt709)
    let video = try self.video("rgb.mp4", form, isThere: !plan.pictures.isEmpty)
    var gray = GrayPictureFiles()
    try makeFolders()
    try render(
      frames: max(plan.frames, plan.pictures.upperBound), &truth, video: video,
      hasDepth: { $0 < plan.frames }, hasPicture: plan.pictures.contains
    ) { frame, view, picture in
      if let view { try write(view, &gray) }
      if let picture { try video?.append(picture, ticks: ticks(frame)) }
    }
    try video?.finish(hasIndex: plan.video != .withoutIndex)
    return gray.digests
  }

  private func makeFolders() throws {
    if !plan.depth.isAbsent { try FileSystem.makeFolder(file("depth")) }
    if !plan.confidence.isAbsent {
      try FileSystem.makeFolder(file("confidence"))
    }
    if plan.depth.hasFarNumber {
      try write([], "depth/\(FilesPlan.farNumber).\(plan.generation.depthEnding)")
    }
  }

  private func write(_ view: DepthView, _ gray: inout GrayPictureFiles) throws {
    let (frame, depth, name) = (view.frame, view.image, view.frame.padded(6))
    if plan.generation != .npy {
      try write(gray.depth(depth, frame, of: plan.depth), "depth/\(name).png")
    } else {
      gray.note(depth, frame, of: plan.depth)
      if !plan.depth.isAbsent {
        try write(Self.array(depth, plan.depth.edits[frame]), "depth/\(name).npy")
      }
    }
    if !plan.depth.isAbsent, frame == plan.doubledFrame { try double(name, depth, &gray) }
    try write(
      gray.confidence(view.confidenceImage(), frame, of: plan.confidence),
      "confidence/\(name).png")
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
  private static func array(_ image: DepthImage, _ edit: ItemEdit?) throws -> [UInt8]? {
    func file(_ image: DepthImage) -> [UInt8] {
      var header =
        "{'descr': '<u2', 'fortran_order': False, 'shape': (\(image.height), \(image.width)), }"
      // Magic, version and length are ten bytes; the whole is a multiple of 64.
      header += String(repeating: " ", count: 63 - (header.utf8.count + 10) % 64) + "\n"
      return [0x93] + Array("NUMPY".utf8) + [1, 0] + Bytes.of(UInt16(header.utf8.count))
        + Array(header.utf8) + Bytes.of(image.millimeters)
    }
    return try edit.file {
      file(image)
    } otherSize: {
      file(image.halved)
    }
  }

  /// The streams as a reader describes them.
  fileprivate var streams: JSONObject {
    let (frames, pictures) = (0..<plan.frames, plan.readablePictures)
    return [
      "color": pictures.isEmpty
        ? nil : rig.color.stream("rgb.mp4", codec.rawValue, frames: pictures.count),
      "depth": plan.depth.json(
        encoding: plan.doubledFrame == nil ? plan.generation.depthEncoding : nil, rig.depth,
        frames: frames),
      "confidence": plan.confidence.json(encoding: "png-u8", rig.depth, frames: frames),
    ]
  }

  /// The row of `intrinsics.csv`.
  fileprivate func cameraRow(_ frame: Int) -> JSONRow? {
    let hasOwn =
      plan.generation.hasIntrinsicsPerFrame && plan.rowEdits[frame] != .withoutIntrinsics
    guard hasOwn || plan.hasMatrix else { return nil }
    return (hasOwn ? camera.camera(frame) : lastCamera).roundedToSingle.row(
      frame, plan.readablePictures.isEmpty ? nil : rig.color.size)
  }
}

extension StrayPlan {
  /// The generation by the signs that are left.
  fileprivate var foundGeneration: StrayScannerFamily {
    switch generation {
    case .perFrameIntrinsics where odometry != .absent: .perFrameIntrinsics
    case .npy: depth.isAbsent ? .png : .npy
    case .perFrameIntrinsics, .rawIMU: motion == .present ? .rawIMU : .png
    case .png: .png
    }
  }
}

extension Synthesis<StrayScannerFamily> {
  fileprivate func writeTables(_ motion: [[String]]) throws {
    if plan.odometry != .absent {
      var columns = columns
      if plan.odometry == .withoutColumn { columns[6] = "q2" }
      let rows = (0..<plan.frames).filter { plan.rowEdits[$0] != .absent }.flatMap { frame in
        let isDoubled = plan.rowEdits[frame] == .repeated
        return [cells(frame)] + (isDoubled ? [cells(frame, isSecond: true)] : [])
      }
      try write([columns] + rows, "odometry.csv", isCut: plan.cutsLastRow)
    }
    if plan.motion != .absent {
      let last = plan.motion == .withoutColumn ? "beta" : "alpha_z"
      let columns = ["timestamp", "a_x", "a_y", "a_z", "alpha_x", "alpha_y", last]
      let rows = plan.motion == .headerAlone ? [] : motion
      try write([columns] + rows, "imu.csv", isCut: plan.cutsLastSample)
    }
    guard plan.hasMatrix else { return }
    let texts = Self.texts(lastCamera)
    // The app writes no line end at the end of this file.
    let matrix = """
      \(texts[0]), 0.0, \(texts[2])
      0.0, \(texts[1]), \(texts[3])
      0.0, 0.0, 1.0
      """
    try write(matrix, "camera_matrix.csv")
  }

  /// Writes a table in which every cell but the first has a leading blank; of its last line only half if it is cut.
  private func write(_ rows: [[String]], _ name: String, isCut: Bool) throws {
    var lines = rows.map { $0.joined(separator: ", ") + "\n" }
    if isCut, let last = lines.popLast() { lines.append(String(last.prefix(last.count / 2))) }
    try write(lines.joined(), name)
  }
}
