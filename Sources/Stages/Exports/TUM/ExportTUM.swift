import Captures
import Core
import Engine
import Media

/// Writes the folder of the TUM RGB-D benchmark.
enum ExportTUM: ExportStage {
  static let name = "export-tum"
  static let version = 4
  static let sentence =
    "TUM RGB-D folder: color and, where there is depth on the color grid, depth × 5, associations, "
    + "trajectory; needs color with times."
  static let ports = [colorPort, jpegPort, alignedPort]
  static let parameters =
    ExportParameters.selection + ExportParameters.pictures(default: .same)
    + ParameterDescription.list(
      ExportParameters.share, CommonParameters.compression, ExportParameters.clock,
      CommonCamera.parameter)
    + CalibrationChoice.parameters

  static let needs: ExportNeeds = [.picture, .time]
  static let depthRule = DepthChoice.Rule.aligned

  static func write(
    _ frames: [Int], of source: ExportSource, to folder: ExportFolder,
    _ content: inout ExportContent
  ) throws -> ExportReadme {
    let context = source.context
    guard let pictures = source.pictures else { throw StageDoesNotApply("no picture is left") }
    let stamps = frames.map { source.time($0)?.decimalSeconds ?? "" }
    let names = try folder.writePictures(pictures, frames, of: source) {
      position, _, ending in "rgb/\(stamps[position]).\(ending)"
    }
    try writeList("rgb.txt", "color", zip(stamps, names).map { ($0, $1) }, context)
    content.names = names
    let depth = TUMDepth(source, frames)
    if depth.hasPictures {
      try depth.writePictures(folder)
      try writeList("depth.txt", "depth", depth.rows.map { ($0.stamp, $0.name) }, context)
      try writeAssociations(depth, stamps, names, context)
      if depth.sameNames > 0 { content.more["depthLeftOut"] = .integer(Int64(depth.sameNames)) }
    }
    let truths = try writeTrajectory(frames, stamps, source)
    let median = CommonCamera(source, frames)
    if let median {
      content.cameras = .one(median)
      try folder.write(try camera(median.camera, source), as: "camera.yaml")
    }
    content.depth = depth.hasPictures ? source.depthChoice : .none
    content.statesDepthTimes = true
    content.poses = truths > 0 ? .recorded : .none
    return readme(source, depth, truths, median)
  }

  /// Writes three comment lines, since ORB-SLAM3's `mono_tum` skips exactly three lines.
  private static func writeList(
    _ name: String, _ what: String, _ rows: [(stamp: String, file: String)], _ context: StageContext
  ) throws {
    var list = try LineFile(name, context.staging)
    try list.line("# timestamp filename")
    try list.line("# \(what) pictures; seconds \(context.parameters[ExportParameters.clock].words)")
    try list.line("# three lines of comment: some readers skip exactly three")
    for row in rows { try list.line(row.stamp + " " + row.file) }
    try list.finish()
  }

  /// Writes associations by frame, never by searching times; without comments, which ORB-SLAM3
  /// would read as a frame.
  private static func writeAssociations(
    _ depth: TUMDepth, _ stamps: [String], _ names: [String], _ context: StageContext
  ) throws {
    var list = try LineFile("associations.txt", context.staging)
    for row in depth.rows {
      try list.line(
        "\(stamps[row.position]) \(names[row.position]) \(row.stamp) \(row.name)")
    }
    try list.finish()
  }

  /// Writes camera to world at the pictures' times; returns the number of rows. Writes no file
  /// without poses.
  private static func writeTrajectory(
    _ frames: [Int], _ stamps: [String], _ source: ExportSource
  ) throws -> Int {
    let rows = frames.enumerated().filter { source.pose($0.element) != nil }
    guard !rows.isEmpty else { return 0 }
    var list = try LineFile("groundtruth.txt", source.context.staging)
    try list.line("# timestamp tx ty tz qx qy qz qw")
    for (position, frame) in rows {
      guard let pose = source.pose(frame) else { continue }
      let q = pose.orientation
      let numbers = (pose.position + [q.x, q.y, q.z, q.w]).map(\.shortText)
      try list.line(([stamps[position]] + numbers).joined(separator: " "))
    }
    try list.finish()
    return rows.count
  }

  private static func camera(_ camera: PinholeCamera, _ source: ExportSource) throws -> String {
    var pairs: YAMLText.Pairs = [
      ("fx", .number(camera.fx)), ("fy", .number(camera.fy)), ("cx", .number(camera.cx)),
      ("cy", .number(camera.cy)), ("width", .integer(camera.width)),
      ("height", .integer(camera.height)), ("depth_factor", .integer(DepthImage.tumUnitsPerMeter)),
    ]
    if let lens = source.cameras.distortion {
      pairs.append(("distortion", .numbers(lens.openCVOrder)))
    }
    return try YAMLText.document(pairs)
  }
}

extension ExportTUM {
  /// - Parameter truths: number of rows with a pose.
  private static func readme(
    _ source: ExportSource, _ depth: TUMDepth, _ truths: Int, _ median: CommonCamera?
  ) -> ExportReadme {
    let context = source.context
    return ExportReadme("Sequence in the layout of the TUM RGB-D benchmark") {
      "rgb/ holds the color pictures, named by their time; rgb.txt lists them."
      if depth.hasPictures {
        "depth/ lies on the color grid: 16-bit PNG, 5000 per meter along the optical axis, 0 = none or above "
          + "13.107 m. Pictures are named by their own time; associations.txt pairs them with color by frame, "
          + "\(depth.rows.count) pairs."
      }
    } opening: {
      if depth.hasPictures {
        (
          "rgbd_tum VOC CAMERA.yaml export-tum export-tum/associations.txt",
          "ORB-SLAM3; CAMERA.yaml is written by hand from camera.yaml"
        )
      } else {
        ("mono_tum VOC CAMERA.yaml export-tum", "ORB-SLAM3, color only")
      }
      if truths > 0 { ("evo_traj tum groundtruth.txt", "The app's own trajectory") }
    } conventions: {
      "Times are seconds with 9 decimals \(context.parameters[ExportParameters.clock].words). Camera axes: x right, "
        + "y down, z forward; pixel centers at integers."
      if truths > 0 {
        "groundtruth.txt: camera to world, meters, \(source.worldWords), quaternion x y z w; \(truths) rows."
      }
      if let median {
        "camera.yaml is \(median.sentence) The layout itself has no place for it."
      }
    } remarks: {
      if !depth.hasPictures { reason(source) }
      if depth.sameNames > 0 {
        "\(depth.sameNames) depth pictures have the time of one before them, which their name would "
          + "overwrite; they and their pairs are left out (depthLeftOut in export.json)."
      }
      if truths == 0 { "No exported frame has a pose: there is no groundtruth.txt." }
      if context.capture.color.value?.isMirrored == true {
        "The video's display matrix mirrors its pictures: poses, intrinsics and depth do not belong to such pictures "
          + "and are not here."
      }
    }
  }

  /// Why there is no depth.
  private static func reason(_ source: ExportSource) -> String {
    let summary = CaptureSummary(source.context.capture, readerVersion: 0)
    if case .absent(let why) = summary.state(of: .depth) { return "There is no depth: \(why)." }
    if source.depth != nil { return "There is no depth: no exported frame has a depth picture." }
    let missing = summary.missingCalibration.joined(separator: ", no ")
    return missing.isEmpty
      ? "There is no depth: none on the color grid was made."
      : "There is no depth on the color grid: the calibration is incomplete: no \(missing); give "
        + "export-tum.calibration and the same to the stage that aligns."
  }
}

/// Depth pictures of `export-tum`: named by their own times, in 1/5000 m.
struct TUMDepth {
  struct Row {
    /// Index of the color picture among the exported frames.
    let position: Int
    let frame: Int
    let stamp: String
    var name: String { "depth/\(stamp).png" }
  }

  let rows: [Row]
  /// Number of depth pictures left out because an earlier one has the same time, and so the same
  /// name.
  let sameNames: Int
  private let pictures: ExportPictures?

  init(_ source: ExportSource, _ frames: [Int]) {
    pictures = source.depth
    var rows: [Row] = []
    var stamps: Set<String> = []
    var sameNames = 0
    for (position, frame) in frames.enumerated() where source.depth?.has(frame) == true {
      guard let stamp = source.depthTime(frame)?.decimalSeconds else { continue }
      guard stamps.insert(stamp).inserted else {
        sameNames += 1
        continue
      }
      rows.append(Row(position: position, frame: frame, stamp: stamp))
    }
    self.rows = rows
    self.sameNames = sameNames
  }

  var hasPictures: Bool { !rows.isEmpty }

  /// Writes on all cores; at most one picture per core is in memory.
  func writePictures(_ folder: ExportFolder) throws {
    guard let pictures else { return }
    let context = folder.context
    try context.each(Array(rows.indices)) { (index: Int, writer: inout PictureWriter) in
      let picture = try pictures.depth(rows[index].frame)
      try writer.encode(
        gray16: DepthImage.tum(fromMillimeters: picture.millimeters), width: picture.width,
        height: picture.height)
      try context.staging.write(writer.file, as: rows[index].name)
    } makeScratch: {
      try PictureWriter(.png, context.parameters)
    }
  }
}
