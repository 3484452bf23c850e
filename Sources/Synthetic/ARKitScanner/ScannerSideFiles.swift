import Core
import FoundationEssentials
import SystemPackage

/// Motion samples with their keys and the times that a reader finds.
typealias ScannerSamples = [(key: String, nanoseconds: Int64?, sample: InertialSample)]

/// Writes the side files of an ARKit-Scanner capture: poses, intrinsics, exposure, motion, metadata.
extension Synthesis<ARKitScannerFamily> {
  func writeSideFiles(_ motion: ScannerSamples) throws {
    guard !plan.isKilled else { return try writeExif() }
    switch plan.generation.keys {
    case .times, .numbers: try writeObjects(motion)
    case .fileNames: try writePropertyLists(motion)
    case .released: try writeRelease(motion)
    }
    if plan.generation.hasExif { try writeExif() }
  }

  private var order: [Int] { ScatteredOrder.indices(count: plan.frames) }

  private func writeObjects(_ motion: ScannerSamples) throws {
    let generation = plan.generation
    try writeObject("trans.json") { Self.list($0.transformTexts) }
    try writeObject("offset.json") { "\($0.offset)" }
    if generation.hasIntrinsicsPerFrame {
      try writeObject("intri.json") { Self.list($0.intrinsicTexts) }
    }
    if generation == .g5 {
      // The APEX value of 1/60 s.
      try writeObject("exif_ShutterSpeedValue.json") { _ in "5.906890595608519" }
      try writeObject("exif_BrightnessValue.json") { _ in "2.5" }
    }
    var imu = try JSONObjectFile(self.file("imu.json"))
    for index in ScatteredOrder.indices(count: motion.count) {
      let (key, _, sample) = motion[index]
      try imu.append(key, Self.list(Self.numbers(sample).map { "\($0)" }))
    }
    try imu.finish()
    try write(metadata.bytes(escapingSlashes: true), "metadata.json")
  }

  private func writeObject(_ name: String, _ value: (ScannerFrameFacts) -> String) throws {
    var file = try JSONObjectFile(self.file(name))
    for frame in order {
      let facts = self.facts(frame)
      try file.append(facts.key, value(facts))
    }
    try file.finish()
  }

  /// Writes one file per frame and kind of value, named by its time.
  private func writePropertyLists(_ motion: ScannerSamples) throws {
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      let numbers = facts.transformTexts.map { Double($0) ?? .nan }
      try write(Self.propertyList(numbers), "\(facts.key)_trans.xml")
      try write("\(facts.offset)", "\(facts.key)_offset.txt")
    }
    for (key, _, sample) in motion {
      try write(Self.propertyList(Self.numbers(sample)), "\(key)_imu.xml")
    }
    let last = self.facts(plan.frames - 1)
    try write(
      Self.propertyList(last.intrinsicTexts.map { Double($0) ?? 0 }), "intri.xml")
    try write("\(last.exposureSeconds)", "dura.txt")
  }

  private func writeExif() throws {
    var file = try JSONObjectFile(
      self.file("exif.json"), opening: "{\n", separator: ",\n")
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      let tags: JSONObject =
        plan.emptyExif.contains(frame)
        ? [:]
        : [
          "ExposureTime": facts.exposureSeconds,
          "ISOSpeedRatings": [facts.iso], "FNumber": 1.5, "BrightnessValue": 2.5,
          "LensModel": "back camera 4.2mm f/1.5", "PixelXDimension": rig.color.width,
          "PixelYDimension": rig.color.height,
        ]
      if plan.isKilled, frame == plan.frames - 1 {
        try file.appendCut(facts.key, tags)
        return
      }
      try file.append(facts.key, tags)
    }
    try file.finish(closing: "\n}")
  }

  private func writeRelease(_ motion: ScannerSamples) throws {
    var file = try JSONObjectFile(self.file("pose_intrinsic_imu.json"))
    let samples = Dictionary(motion.map { ($0.key, $0.sample) }) { first, _ in first }
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      try file.append(
        facts.key,
        ScannerRelease.entry(
          facts, seconds: uptimeSeconds(frame),
          motion: samples[facts.key]))
    }
    try file.finish()
  }

  private var metadata: JSONObject {
    let last = self.facts(plan.frames - 1)
    let (sceneName, sceneType) = ("lab 101 \"a/b\"", "bedroom / hotel")
    let width = rig.color.width * plan.declaredColorScale
    let height = rig.color.height * plan.declaredColorScale
    let depth = plan.hasStrangeDepthSize ? "unknown" : "\(rig.depth.width)"
    if plan.generation == .g2b {
      return [
        "Scene Name": sceneName, "Scene Type": sceneType,
        "RGB Resolution": "\(width).0*\(height).0",
        "Depth Resolution": "\(depth).0*\(rig.depth.height).0",
        "Intrinstics": Self.list(last.intrinsicTexts),
        "Exposure Duration": "\(last.exposureSeconds)",
      ]
    }
    var members: JSONObject = [
      "scene_name": sceneName, "scene_type": sceneType,
      "color_width": "\(width)", "color_height": "\(height)",
      "depth_width": depth, "depth_height": "\(rig.depth.height)",
    ]
    if plan.generation != .g6 { members["exposure_duration"] = "\(last.exposureSeconds)" }
    if plan.generation == .g3 || plan.generation == .g2c {
      members["intrinsic"] = Self.list(last.intrinsicTexts)
    }
    if plan.generation == .g5 {
      members["exif_FNumber"] = "1.6"
      members["exif_ISOSpeedRatings"] = "125"
      members["exif_LensModel"] = "back camera 4.2mm f/1.6"
    }
    return members
  }

  /// Fifteen numbers in the order of the file.
  private static func numbers(_ sample: InertialSample) -> [Double] {
    // The app never requests a calibrated magnetic field.
    sample.rotationRate.array + sample.userAcceleration.array + [0, 0, 0] + sample.attitude.array
      + sample.gravity.array
  }

  /// A property list as Foundation writes it.
  private static func propertyList(_ values: [Double]) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return Array(try encoder.encode(values))
  }

  private static func list(_ texts: [String]) -> String { "[\(texts.joined(separator: ","))]" }
}

/// Writes one large JSON object member by member, so that memory does not grow with it.
struct JSONObjectFile {
  private let file: GrowingFile
  private let separator: String
  private let encoder = JSONEncoder()
  private var isEmpty = true

  /// - Parameters:
  ///   - opening: `{`, optionally with a line end.
  ///   - separator: the text between members: `,`, optionally with a line end.
  init(_ path: FilePath, opening: String = "{", separator: String = ",") throws(FileError) {
    file = try GrowingFile(path)
    self.separator = separator
    encoder.outputFormatting = [.sortedKeys]
    try file.append(opening)
  }

  /// Appends a member as `JSONEncoder` writes it, with `/` as `\/`.
  mutating func append(_ name: String, _ value: some Encodable) throws {
    if !isEmpty { try file.append(separator) }
    isEmpty = false
    try file.append(try member(name, value))
  }

  /// Appends only the first half of a member.
  mutating func appendCut(_ name: String, _ value: some Encodable) throws {
    if !isEmpty { try file.append(separator) }
    let bytes = try member(name, value)
    try file.append(bytes.prefix(bytes.count / 2))
    try file.close()
  }

  mutating func finish(closing: String = "}") throws(FileError) {
    try file.append(closing)
    try file.close()
  }

  /// An object of one member without its braces.
  private func member(_ name: String, _ value: some Encodable) throws -> [UInt8] {
    Array(try encoder.encode([name: value]).dropFirst().dropLast())
  }
}

/// The order of members in an unordered dictionary: every index once, and not ascending for more
/// than a few members.
enum ScatteredOrder {
  static func indices(count: Int) -> [Int] {
    guard count > 0 else { return [] }
    // A step without common divisor reaches every index.
    var step = max(1, count * 5 / 8)
    while divisor(step, count) != 1 { step += 1 }
    return (0..<count).map { ($0 * step + count / 3) % count }
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
}

/// One frame's values in the side files, as stored and as in a reader's tables.
struct ScannerFrameFacts {
  let frame: Int
  let key: String
  let timestamp: Int64?
  /// Column-major, ARKit axes.
  let transform: [Float]
  let intrinsics: PinholeCamera
  let offset: Float
  let exposureSeconds: Double
  let iso: Int
  let isNaN: Bool

  init(_ work: Synthesis<ARKitScannerFamily>, _ frame: Int, intrinsics: PinholeCamera) {
    self.frame = frame
    key = work.key(frame)
    timestamp = work.recorded(frame)
    transform = work.rig.motion.state(at: work.worldSeconds(frame))
      .arkitTransform(shiftedBy: work.plan.damage.shift(frame))
    self.intrinsics = intrinsics
    offset = Float(Decimals.round(0.328667 - 0.01 * Double(frame % 20), 6))
    exposureSeconds = work.options.shownExposureSeconds
    iso = [100, 125, 160, 200][frame / 8 % 4]
    isNaN = frame == work.plan.nanPoseFrame
  }

  /// The sixteen numbers as text.
  var transformTexts: [String] {
    var texts = transform.map { "\($0)" }
    if isNaN { texts[13] = "nan" }
    return texts
  }

  var intrinsicTexts: [String] {
    DriftingCamera.columnMajor(intrinsics).map { "\(Float($0))" }
  }

  /// The row of `poses.csv`: frame, time, position, quaternion; `nil` when a number is not finite.
  var poseRow: JSONRow? {
    guard !isNaN, let timestamp else { return nil }
    return Pose(arkitColumnMajor: transform.map { Double("\($0)") ?? Double($0) })?
      .row(frame, timestamp)
  }
}

/// Makes entries of the pose file of a published ScanNet++ scene.
enum ScannerRelease {
  /// From the world to that of the scene's mesh, in which z points up: (x, y, z) becomes (x, -z,
  /// y).
  static let meshFromRoom = Matrix3(
    x: Vector3(1, 0, 0), y: Vector3(0, 0, 1), z: Vector3(0, -1, 0))

  static func entry(
    _ facts: ScannerFrameFacts, seconds: Double, motion: InertialSample?
  ) -> JSONObject {
    let m = facts.transform.map { Double($0) }
    let camera = facts.intrinsics
    var members: JSONObject = [
      "timestamp": seconds,
      "pose": rows(m), "aligned_pose": rows(aligned(m, isNaN: facts.isNaN)),
      "intrinsic": [
        [camera.fx, 0, camera.cx], [0, camera.fy, camera.cy],
        [0, 0, 1],
      ],
    ]
    if let motion {
      members["imu"] = [
        "rotate_rate": motion.rotationRate.array,
        "acceleration": motion.userAcceleration.array,
        "gravity": motion.gravity.array,
      ]
    }
    return members
  }

  /// Column-major matrix with the mesh's world and OpenCV camera axes.
  static func aligned(_ m: [Double], isNaN: Bool = false) -> [Double] {
    var aligned: [Double] = []
    for column in 0..<4 {
      let sign = column == 1 || column == 2 ? -1.0 : 1
      let turned =
        meshFromRoom * (Vector3(m[column * 4], m[column * 4 + 1], m[column * 4 + 2]) * sign)
      aligned += turned.array + [m[column * 4 + 3]]
    }
    return aligned
  }

  /// The row of `poses.csv`.
  static func poseRow(_ facts: ScannerFrameFacts) -> JSONRow? {
    guard let timestamp = facts.timestamp else { return nil }
    let m = aligned(facts.transform.map { Double($0) })
    return Pose(
      rotation: [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]],
      position: [m[12], m[13], m[14]]
    )?.row(facts.frame, timestamp)
  }

  private static func rows(_ m: [Double]) -> [[Double]] {
    (0..<4).map { row in (0..<4).map { m[$0 * 4 + row] } }
  }
}
