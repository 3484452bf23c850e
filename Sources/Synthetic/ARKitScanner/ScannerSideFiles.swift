import Core
import SystemPackage

/// Writes the side files of an ARKit-Scanner capture: poses, intrinsics, exposure, motion, metadata.
struct ScannerSideFiles {
  let folder: FilePath
  let plan: ScannerPlan
  let times: ScannerTimes
  let color: PinholeCamera
  let depthWidth: Int
  let depthHeight: Int
  /// Computes the values of a frame at every call.
  let facts: (Int) -> ScannerFrameFacts
  /// All motion samples with their keys.
  let motion: [(key: String, sample: InertialSample)]

  static let sceneName = "lab 101 \"a/b\""
  static let sceneType = "bedroom / hotel"

  func write() throws {
    guard !plan.isKilled else {
      try writeExif()
      return
    }
    switch plan.generation.keys {
    case .times, .numbers: try writeObjects()
    case .fileNames: try writePropertyLists()
    case .released: try writeRelease()
    }
    if plan.generation.hasExif { try writeExif() }
  }

  private var order: [Int] { ScatteredOrder.indices(count: plan.frames) }

  private func writeObjects() throws {
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
    var imu = try JSONObjectFile(folder.appending("imu.json"))
    for index in ScatteredOrder.indices(count: motion.count) {
      let (key, sample) = motion[index]
      try imu.append(key, Self.list(Self.numbers(sample).map { "\($0)" }))
    }
    try imu.finish()
    try OutputFile.write(
      metadata.bytes(escapingSlashes: true), to: folder.appending("metadata.json"))
  }

  private func writeObject(_ name: String, _ value: (ScannerFrameFacts) -> String) throws {
    var file = try JSONObjectFile(folder.appending(name))
    for frame in order {
      let facts = self.facts(frame)
      try file.append(facts.key, value(facts))
    }
    try file.finish()
  }

  /// Writes one file per frame and kind of value, named by its time.
  private func writePropertyLists() throws {
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      let numbers = facts.transformTexts.map { Double($0) ?? .nan }
      try OutputFile.write(
        PropertyList.bytes(numbers), to: folder.appending("\(facts.key)_trans.xml"))
      try OutputFile.write(
        Array("\(facts.offset)".utf8), to: folder.appending("\(facts.key)_offset.txt"))
    }
    for (key, sample) in motion {
      try OutputFile.write(
        PropertyList.bytes(Self.numbers(sample)), to: folder.appending("\(key)_imu.xml"))
    }
    let last = self.facts(plan.frames - 1)
    try OutputFile.write(
      PropertyList.bytes(last.intrinsicTexts.map { Double($0) ?? 0 }),
      to: folder.appending("intri.xml"))
    try OutputFile.write(Array("\(last.exposureSeconds)".utf8), to: folder.appending("dura.txt"))
  }

  private func writeExif() throws {
    var file = try JSONObjectFile(
      folder.appending("exif.json"), opening: "{\n", separator: ",\n")
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      let tags: JSONTree =
        plan.emptyExif.contains(frame)
        ? [:]
        : [
          "ExposureTime": .number(facts.exposureSeconds),
          "ISOSpeedRatings": [JSONTree(facts.iso)], "FNumber": 1.5, "BrightnessValue": 2.5,
          "LensModel": "back camera 4.2mm f/1.5", "PixelXDimension": JSONTree(color.width),
          "PixelYDimension": JSONTree(color.height),
        ]
      if plan.isKilled, frame == plan.frames - 1 {
        try file.appendCut(facts.key, tags)
        return
      }
      try file.append(facts.key, tags)
    }
    try file.finish(closing: "\n}")
  }

  private func writeRelease() throws {
    var file = try JSONObjectFile(folder.appending("pose_intrinsic_imu.json"))
    let samples = Dictionary(motion.map { ($0.key, $0.sample) }) { first, _ in first }
    for frame in 0..<plan.frames {
      let facts = self.facts(frame)
      try file.append(
        facts.key,
        ScannerRelease.entry(
          facts, seconds: times.seconds(frame),
          motion: samples[facts.key]))
    }
    try file.finish()
  }

  private var metadata: JSONTree {
    let last = self.facts(plan.frames - 1)
    let width = color.width * plan.declaredColorScale
    let height = color.height * plan.declaredColorScale
    let depth = plan.hasStrangeDepthSize ? "unknown" : "\(depthWidth)"
    if plan.generation == .g2b {
      return [
        "Scene Name": .text(Self.sceneName), "Scene Type": .text(Self.sceneType),
        "RGB Resolution": .text("\(width).0*\(height).0"),
        "Depth Resolution": .text("\(depth).0*\(depthHeight).0"),
        "Intrinstics": .text(Self.list(last.intrinsicTexts)),
        "Exposure Duration": .text("\(last.exposureSeconds)"),
      ]
    }
    var members: [String: JSONTree] = [
      "scene_name": .text(Self.sceneName), "scene_type": .text(Self.sceneType),
      "color_width": .text("\(width)"), "color_height": .text("\(height)"),
      "depth_width": .text(depth), "depth_height": .text("\(depthHeight)"),
    ]
    if plan.generation != .g6 { members["exposure_duration"] = .text("\(last.exposureSeconds)") }
    if plan.generation == .g3 || plan.generation == .g2c {
      members["intrinsic"] = .text(Self.list(last.intrinsicTexts))
    }
    if plan.generation == .g5 {
      members["exif_FNumber"] = "1.6"
      members["exif_ISOSpeedRatings"] = "125"
      members["exif_LensModel"] = "back camera 4.2mm f/1.6"
    }
    return .object(members)
  }

  /// Fifteen numbers in the order of the file.
  static func numbers(_ sample: InertialSample) -> [Double] {
    // The app never requests a calibrated magnetic field.
    sample.rotationRate.array + sample.userAcceleration.array + [0, 0, 0] + sample.attitude.array
      + sample.gravity.array
  }

  private static func list(_ texts: [String]) -> String { "[\(texts.joined(separator: ","))]" }
}
