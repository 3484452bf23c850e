import Core
import Media
import SystemPackage

/// Writes a Stray Scanner capture, frame by frame.
struct StrayWriter {
  let plan: StrayPlan
  let options: SynthesisOptions
  let folder: CaptureFolder
  let rig: Rig
  private let rate: Double
  private let times: StrayTimes
  private let camera: DriftingCamera
  /// The codec that devices write, if this FFmpeg can encode it.
  private let codec: VideoEncoderSettings.Codec

  init(plan: StrayPlan, options: SynthesisOptions, folder: CaptureFolder, rig: Rig) {
    self.plan = plan
    self.options = options
    self.folder = folder
    self.rig = rig
    rate = options.rate ?? 60
    times = StrayTimes(plan: plan, rate: rate, seed: options.seed)
    camera = DriftingCamera(rig.color, seed: options.seed)
    codec = VideoEncoder.canEncode(.hevc) ? .hevc : .h264
  }

  func write(id: String, faults: [SyntheticFault]) throws -> [ExpectedWarning] {
    var truth = try TruthWriter(
      folder: folder.truth, rig: rig, frames: plan.frames, pictures: options.truthPictures,
      progress: options.progress)
    let pictures = try writePictures(&truth)
    let rows = (0..<plan.frames).map { frame in
      StrayRow(
        frame: frame, plan: plan, times: times,
        state: rig.motion.state(at: times.worldSeconds(frame)), camera: camera.camera(frame))
    }
    let motion = StrayMotion(plan: plan, times: times, rig: rig, options: options)
    let last = camera.camera(plan.frames - 1)
    try StrayTables(
      plan: plan, folder: folder.capture, rows: rows, motion: motion, camera: last
    ).write()
    let report = StrayReport(
      id: id, plan: plan, options: options, rig: rig, rate: rate, faults: faults,
      expectation: StrayExpectation(plan: plan, times: times, firstSample: motion.firstTime),
      depthDigests: pictures.depthDigests, confidenceDigests: pictures.confidenceDigests,
      rows: rows, motion: motion, matrix: last, colorEncoding: codec.rawValue)
    try truth.finish(expected: report.expected, truth: report.truth)
    return report.expectation.warnings.entries
  }

  private func writePictures(_ truth: inout TruthWriter) throws -> StrayPictures {
    let videoPath = folder.capture.appending("rgb.mp4")
    var form = VideoSink.Form(
      container: .mp4, codec: codec, bFrames: plan.hasBFrames ? 2 : 0)
    form.matrix = .bt709
    form.range = .limited
    let video =
      plan.pictures.isEmpty
      ? nil : try VideoSink(videoPath, form, camera: rig.color, options: options)
    var pictures = try StrayPictures(folder.capture, plan: plan)
    var exact = DepthRenderer(room: rig.room, camera: rig.depth)
    var renderer = ColorRenderer(
      room: rig.room, camera: rig.color, settings: options.pictureSettings, seed: options.seed)
    for frame in 0..<max(plan.frames, plan.pictures.upperBound) {
      let state = rig.motion.state(at: times.worldSeconds(frame))
      let nanoseconds = times.recorded(frame) ?? 0
      let color = camera.camera(frame)
      if frame < plan.frames {
        exact.camera = color.scaled(toWidth: rig.depth.width, height: rig.depth.height)
        exact.render(state.viewpoint())
        let lidar = LidarSensor(camera: exact.camera, noise: options.noise, seed: options.seed)
        try pictures.append(
          frame: frame, depth: lidar.depthImage(exact.meters, frame: frame),
          confidence: lidar.confidenceImage(exact.meters))
        try truth.recordDepth(
          frame: frame, nanoseconds: nanoseconds, state: state, exact: exact, color: color)
      }
      guard let video, plan.pictures.contains(frame) else { continue }
      renderer.camera = color
      renderer.reuse(video.spare())
      try video.append(renderer.render(frame: frame, state: state), ticks: times.ticks(frame))
      try truth.recordColor(frame: frame, nanoseconds: nanoseconds, state: state)
    }
    try video?.finish()
    if plan.video == .withoutIndex { try MovieDamage.removeIndex(of: videoPath) }
    return pictures
  }
}

/// Writes the three tables of a Stray Scanner capture. Every cell but the first has a leading
/// blank.
struct StrayTables {
  let plan: StrayPlan
  let folder: FilePath
  let rows: [StrayRow]
  let motion: StrayMotion
  /// The camera of the last frame.
  let camera: PinholeCamera

  func write() throws {
    if plan.odometry != .absent { try writeRows() }
    if plan.motion != .absent { try writeMotion() }
    if plan.hasMatrix { try writeMatrix() }
  }

  private func writeRows() throws {
    var columns = StrayRow.columns(plan.generation)
    if plan.odometry == .withoutColumn { columns[6] = "q2" }
    let file = try GrowingFile(folder.appending("odometry.csv"))
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

  private func writeMotion() throws {
    var columns = ["timestamp", "a_x", "a_y", "a_z", "alpha_x", "alpha_y", "alpha_z"]
    if plan.motion == .withoutColumn { columns[6] = "beta" }
    let file = try GrowingFile(folder.appending("imu.csv"))
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
    let texts = StrayRow.texts(camera)
    let text = """
      \(texts[0]), 0.0, \(texts[2])
      0.0, \(texts[1]), \(texts[3])
      0.0, 0.0, 1.0
      """
    try OutputFile.write(Array(text.utf8), to: folder.appending("camera_matrix.csv"))
  }

  private static func line(_ cells: [String]) -> String { cells.joined(separator: ", ") + "\n" }

  private static func half(_ line: String) -> String { String(line.prefix(line.count / 2)) }
}

/// Writes the depth and confidence files of a Stray Scanner capture, frame by frame.
struct StrayPictures {
  private let plan: StrayPlan
  private let depthFolder: FilePath
  private let confidenceFolder: FilePath
  private var files = GrayPictureFiles()
  /// Digests of the pixels by frame; `nil` for a hole.
  private(set) var depthDigests: [Digest?] = []
  private(set) var confidenceDigests: [Digest?] = []

  init(_ folder: FilePath, plan: StrayPlan) throws {
    self.plan = plan
    depthFolder = folder.appending("depth")
    confidenceFolder = folder.appending("confidence")
    if !plan.depth.isAbsent { try FileSystem.makeFolder(depthFolder) }
    if !plan.confidence.isAbsent { try FileSystem.makeFolder(confidenceFolder) }
    if plan.depth.hasFarNumber {
      try OutputFile.write(
        [],
        to: depthFolder.appending("\(PictureFilesPlan.farNumber).\(plan.generation.depthEnding)"))
    }
  }

  mutating func append(frame: Int, depth: DepthImage, confidence: GrayImage) throws {
    let name = Decimals.padded(frame, 6)
    let ending = plan.generation.depthEnding
    if !plan.depth.isAbsent {
      let edit = plan.depth.edits[frame]
      let file =
        plan.generation == .npy ? Self.array(depth, edit) : try files.depth(depth, edit)
      if let file { try OutputFile.write(file, to: depthFolder.appending("\(name).\(ending)")) }
      if frame == plan.doubledFrame { try double(name, depth) }
    }
    let isWhole = plan.depth.isReadable(frame)
    depthDigests.append(isWhole ? Digest(of: Bytes.of(depth.millimeters)) : nil)
    if !plan.confidence.isAbsent,
      let file = try files.confidence(confidence, plan.confidence.edits[frame])
    {
      try OutputFile.write(file, to: confidenceFolder.appending("\(name).png"))
    }
    confidenceDigests.append(
      plan.confidence.isReadable(frame) ? Digest(of: confidence.values) : nil)
  }

  /// Moves the picture into a PNG and leaves an array of zeros.
  private mutating func double(_ name: String, _ depth: DepthImage) throws {
    let zeros = DepthImage(
      width: depth.width, height: depth.height,
      millimeters: [UInt16](repeating: 0, count: depth.millimeters.count))
    if let array = Self.array(zeros, nil) {
      try OutputFile.write(array, to: depthFolder.appending("\(name).npy"))
    }
    if let picture = try files.depth(depth, nil) {
      try OutputFile.write(picture, to: depthFolder.appending("\(name).png"))
    }
  }

  /// A NumPy array of version 1; `nil` if none is written.
  private static func array(_ image: DepthImage, _ edit: PictureEdit?) -> [UInt8]? {
    func file(_ values: [UInt16], width: Int, height: Int) -> [UInt8] {
      var header =
        "{'descr': '<u2', 'fortran_order': False, 'shape': (\(height), \(width)), }"
      // Magic, version and length are ten bytes; the whole is a multiple of 64.
      header += String(repeating: " ", count: 63 - (header.utf8.count + 10) % 64) + "\n"
      return [0x93] + Array("NUMPY".utf8) + [1, 0] + Bytes.of(UInt16(header.utf8.count))
        + Array(header.utf8) + Bytes.of(values)
    }
    let whole = file(image.millimeters, width: image.width, height: image.height)
    switch edit {
    case nil: return whole
    case .absent: return nil
    case .empty: return []
    case .cut, .otherKind: return Array(whole.prefix(whole.count / 2))
    case .otherSize:
      return file(
        GrayPictureFiles.halved(image.millimeters, width: image.width), width: image.width / 2,
        height: image.height / 2)
    }
  }
}

/// Makes the two truth documents of a Stray Scanner capture.
struct StrayReport {
  let id: String
  let plan: StrayPlan
  let options: SynthesisOptions
  let rig: Rig
  let rate: Double
  let faults: [SyntheticFault]
  let expectation: StrayExpectation
  let depthDigests: [Digest?]
  let confidenceDigests: [Digest?]
  let rows: [StrayRow]
  let motion: StrayMotion
  /// The camera of the last frame, which `camera_matrix.csv` holds.
  let matrix: PinholeCamera
  let colorEncoding: String

  var expected: JSONTree {
    let frames = plan.canonicalFrames
    let isColorUnreadable = plan.video == .withoutIndex
    var failing: [JSONTree] = []
    if isColorUnreadable { failing.append("color") }
    if plan.odometry == .withoutColumn { failing.append("tables") }
    // Samples cannot be assigned to frames without times.
    if plan.motion == .withoutColumn || plan.odometry == .withoutColumn { failing.append("imu") }
    let mayFail: [JSONTree] = isColorUnreadable ? ["aligned"] : []
    return [
      "description": .text(
        faults.isEmpty ? "no fault" : faults.map(\.summary).joined(separator: "; ")),
      "family": "stray-scanner", "generation": .text(foundGeneration.rawValue), "id": .text(id),
      "frames": JSONTree(frames),
      "streams": ["color": color, "depth": depth, "confidence": confidence],
      "depthSha256": digests(depthDigests), "confidenceSha256": digests(confidenceDigests),
      "colorFrames": JSONTree(plan.readablePictures.count),
      "colorCode": .text(FrameCode.howToRead),
      "colorIndex": options.showsFrameCode
        ? JSONTree((0..<frames).map { plan.readablePictures.contains($0) ? Int64($0) : nil })
        : nil,
      "timestampsNs": [
        "frame": JSONTree(expectation.frameTimes), "color": JSONTree(expectation.colorTimes),
        "depth": JSONTree(expectation.depthTimes),
      ],
      "poses": .array(keptRows.compactMap(\.pose)), "intrinsics": .array(intrinsics),
      "imu": motion.rows.json, "cameraSettings": [], "geo": [],
      "warnings": expectation.warnings.json, "mustFail": .array(failing),
      "mayFail": .array(mayFail), "exitCode": failing.isEmpty ? 0 : 1,
    ]
  }

  var truth: JSONTree {
    TruthDocument(
      family: "stray-scanner", generation: plan.generation.rawValue, id: id, options: options,
      faults: faults, rate: rate, frames: plan.frames, color: rig.color, depth: rig.depth,
      colorFromDepth: .identity
    ).json
  }

  /// The generation by the signs that are left.
  private var foundGeneration: StrayGeneration {
    if plan.generation == .perFrameIntrinsics {
      guard plan.odometry == .absent else { return .perFrameIntrinsics }
      return plan.motion == .present ? .rawIMU : .png
    }
    if plan.generation == .npy { return plan.depth.isAbsent ? .png : .npy }
    return plan.motion == .present ? plan.generation : .png
  }

  private var keptRows: [StrayRow] {
    let kept = Set(plan.rows)
    return rows.filter { kept.contains($0.frame) }
  }

  private var intrinsics: [JSONTree] {
    let isSized = !plan.readablePictures.isEmpty
    return keptRows.compactMap { row in
      let own = plan.generation.hasIntrinsicsPerFrame ? row.ownIntrinsics : nil
      guard let values = own ?? (plan.hasMatrix ? StrayRow.values(matrix) : nil) else {
        return nil
      }
      return .array(
        [
          JSONTree(row.frame), isSized ? JSONTree(rig.color.width) : nil,
          isSized ? JSONTree(rig.color.height) : nil,
        ] + values.map { JSONTree.number($0) })
    }
  }

  private func digests(_ values: [Digest?]) -> JSONTree {
    JSONTree((0..<plan.canonicalFrames).map { values.indices.contains($0) ? values[$0]?.hex : nil })
  }

  private var color: JSONTree {
    guard !plan.readablePictures.isEmpty else { return nil }
    return [
      "file": "rgb.mp4", "encoding": .text(colorEncoding), "width": JSONTree(rig.color.width),
      "height": JSONTree(rig.color.height), "frames": JSONTree(plan.readablePictures.count),
    ]
  }

  private var depth: JSONTree {
    guard let files = plan.depth.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": plan.doubledFrame == nil ? .text(plan.generation.depthEncoding) : nil,
      "width": JSONTree(rig.depth.width), "height": JSONTree(rig.depth.height),
      "frames": JSONTree(files),
    ]
  }

  private var confidence: JSONTree {
    guard let files = plan.confidence.fileCount(frames: 0..<plan.frames) else { return nil }
    return [
      "encoding": "png-u8", "width": JSONTree(rig.depth.width),
      "height": JSONTree(rig.depth.height), "frames": JSONTree(files),
    ]
  }
}

/// The file layouts of Stray Scanner over time.
enum StrayGeneration: String, CaseIterable {
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
}
