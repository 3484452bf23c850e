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

  private func writeObjects(_ motion: ScannerSamples) throws {
    let generation = plan.generation
    try writeObject("trans.json") { Self.list(transformTexts($0)) }
    try writeObject("offset.json") { "\(Self.offset($0.frame))" }
    if generation.hasIntrinsicsPerFrame {
      try writeObject("intri.json") { Self.list(Self.intrinsicTexts($0)) }
    }
    if generation == .g5 {
      // The APEX value of 1/60 s.
      try writeObject("exif_ShutterSpeedValue.json") { _ in "5.906890595608519" }
      try writeObject("exif_BrightnessValue.json") { _ in "2.5" }
    }
    var imu = try JSONObjectFile(self.file("imu.json"))
    for index in motion.indices.scattered {
      let (key, _, sample) = motion[index]
      try imu.append(key, Self.list(Self.numbers(sample).map { "\($0)" }))
    }
    try imu.finish()
    try write(metadata.bytes(escapingSlashes: true), "metadata.json")
  }

  private func writeObject(_ name: String, _ value: (FrameFacts) -> String) throws {
    var file = try JSONObjectFile(self.file(name))
    for frame in (0..<plan.frames).scattered {
      try file.append(key(frame), value(shownFacts(frame)))
    }
    try file.finish()
  }

  /// Writes one file per frame and kind of value, named by its time.
  private func writePropertyLists(_ motion: ScannerSamples) throws {
    for frame in 0..<plan.frames {
      let numbers = transformTexts(shownFacts(frame)).map { Double($0) ?? .nan }
      try write(Self.propertyList(numbers), "\(key(frame))_trans.xml")
      try write("\(Self.offset(frame))", "\(key(frame))_offset.txt")
    }
    for (key, _, sample) in motion {
      try write(Self.propertyList(Self.numbers(sample)), "\(key)_imu.xml")
    }
    let last = Self.intrinsicTexts(shownFacts(plan.frames - 1))
    try write(Self.propertyList(last.map { Double($0) ?? 0 }), "intri.xml")
    try write("\(options.shownExposureSeconds)", "dura.txt")
  }

  private func writeExif() throws {
    var file = try JSONObjectFile(
      self.file("exif.json"), opening: "{\n", separator: ",\n")
    for frame in 0..<plan.frames {
      let tags: JSONObject =
        plan.emptyExif.contains(frame)
        ? [:]
        : [
          "ExposureTime": options.shownExposureSeconds,
          "ISOSpeedRatings": [Self.iso(frame)], "FNumber": 1.5, "BrightnessValue": 2.5,
          "LensModel": "back camera 4.2mm f/1.5", "PixelXDimension": rig.color.width,
          "PixelYDimension": rig.color.height,
        ]
      if plan.isKilled, frame == plan.frames - 1 {
        try file.appendCut(key(frame), tags)
        return
      }
      try file.append(key(frame), tags)
    }
    try file.finish(closing: "\n}")
  }

  private func writeRelease(_ motion: ScannerSamples) throws {
    var file = try JSONObjectFile(self.file("pose_intrinsic_imu.json"))
    let samples = Dictionary(motion.map { ($0.key, $0.sample) }) { first, _ in first }
    for frame in 0..<plan.frames {
      let own = shownFacts(frame)
      let camera = own.camera
      var entry: JSONObject = [
        "timestamp": uptimeSeconds(frame), "pose": own.rows, "aligned_pose": Self.aligned(own).rows,
        "intrinsic": [[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]],
      ]
      if let motion = samples[key(frame)] {
        entry["imu"] = [
          "rotate_rate": motion.rotationRate.array, "acceleration": motion.userAcceleration.array,
          "gravity": motion.gravity.array,
        ]
      }
      try file.append(key(frame), entry)
    }
    try file.finish()
  }

  private var metadata: JSONObject {
    let intrinsics = Self.list(Self.intrinsicTexts(shownFacts(plan.frames - 1)))
    let exposure = "\(options.shownExposureSeconds)"
    let (sceneName, sceneType) = ("lab 101 \"a/b\"", "bedroom / hotel")
    let width = rig.color.width * plan.declaredColorScale
    let height = rig.color.height * plan.declaredColorScale
    let depth = plan.hasStrangeDepthSize ? "unknown" : "\(rig.depth.width)"
    if plan.generation == .g2b {
      return [
        "Scene Name": sceneName, "Scene Type": sceneType,
        "RGB Resolution": "\(width).0*\(height).0",
        "Depth Resolution": "\(depth).0*\(rig.depth.height).0",
        "Intrinstics": intrinsics, "Exposure Duration": exposure,
      ]
    }
    var members: JSONObject = [
      "scene_name": sceneName, "scene_type": sceneType,
      "color_width": "\(width)", "color_height": "\(height)",
      "depth_width": depth, "depth_height": "\(rig.depth.height)",
    ]
    if plan.generation != .g6 { members["exposure_duration"] = exposure }
    if plan.generation == .g3 || plan.generation == .g2c {
      members["intrinsic"] = intrinsics
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

extension Range<Int> {
  /// The order of members in an unordered dictionary: every index once, and not ascending for more
  /// than a few members.
  fileprivate var scattered: [Int] {
    guard count > 0 else { return [] }
    // A step without common divisor reaches every index.
    var step = Swift.max(1, count * 5 / 8)
    while Self.divisor(step, count) != 1 { step += 1 }
    return map { ($0 * step + count / 3) % count }
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
}

/// One frame's values in the side files, as stored and as in a reader's tables.
extension Synthesis<ARKitScannerFamily> {
  /// The facts of a frame with the matrix that is stored for it: early generations store only that of the last frame.
  func shownFacts(_ frame: Int) -> FrameFacts {
    var own = facts(frame)
    if !plan.generation.hasIntrinsicsPerFrame { own.camera = camera.camera(plan.frames - 1) }
    return own
  }

  static func offset(_ frame: Int) -> Float {
    Float(Decimals.round(0.328667 - 0.01 * Double(frame % 20), 6))
  }

  static func iso(_ frame: Int) -> Int { [100, 125, 160, 200][frame / 8 % 4] }

  /// The sixteen numbers as text.
  private func transformTexts(_ own: FrameFacts) -> [String] {
    var texts = own.transform.map { "\(Float($0))" }
    if own.frame == plan.nanPoseFrame { texts[13] = "nan" }
    return texts
  }

  private static func intrinsicTexts(_ own: FrameFacts) -> [String] {
    own.camera.columnMajor.map { "\(Float($0))" }
  }

  /// The row of `poses.csv`; `nil` when a number is not finite.
  func poseRow(_ own: FrameFacts) -> JSONRow? {
    guard own.frame != plan.nanPoseFrame else { return nil }
    var own = own
    own.transform = transformTexts(own).map { Double($0) ?? 0 }
    return own.poseRow
  }

  /// The row of `poses.csv` in the release.
  func alignedRow(_ own: FrameFacts) -> JSONRow? {
    let rows = Self.aligned(own).rows
    let turn = rows.prefix(3).flatMap { $0.prefix(3) }
    return Pose(rotation: turn, position: rows.prefix(3).map { $0[3] })?.row(own.frame, own.time)
  }

  /// The facts with the mesh's world, in which z points up, and OpenCV camera axes.
  private static func aligned(_ own: FrameFacts) -> FrameFacts {
    var aligned = own
    for column in stride(from: 0, to: 16, by: 4) {
      let sign = column == 4 || column == 8 ? -1.0 : 1
      let m = own.transform[column..<column + 3]
      let turned = Matrix3.zUpFromYUp * (Vector3(m[column], m[column + 1], m[column + 2]) * sign)
      aligned.transform.replaceSubrange(column..<column + 3, with: turned.array)
    }
    return aligned
  }
}
