import Captures
import Media
import Core
import Engine

/// Writes the folder of the TUM RGB-D benchmark.
public enum ExportTUM: ExportStage {
  public static let name = "export-tum"
  public static let version = 3
  public static let sentence =
    "TUM RGB-D folder: color and, where there is depth on the color grid, depth × 5, associations, "
    + "trajectory; needs color with times."
  public static let ports = [colorPort, jpegPort, alignedPort]
  public static let parameters: [ParameterDescription] =
    ExportParameters.selection + ExportParameters.pictures(default: "same")
    + [ExportParameters.share, CommonParameters.compression, CommonCamera.parameter]
    + CalibrationChoice.parameters

  package static let needs: ExportNeeds = [.picture, .time]
  package static let depthRule = DepthChoice.Rule.aligned
  package static func pictures(_ parameters: ParameterValues) -> String? {
    PictureForm(parameters).port
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let source = try source(context)
    let frames = try chooseFrames(source)
    guard let pictures = source.pictures else { throw StageDoesNotApply("no picture is left") }
    let stamps = frames.frames.map { source.time($0).map(TimeText.decimalSeconds) ?? "" }

    let folder = ExportFolder(context)
    let names = try folder.writePictures(
      pictures, frames.frames, PictureForm(context.parameters)
    ) { position, _, ending in "rgb/\(stamps[position]).\(ending)" }
    try writeList("rgb.txt", "color", zip(stamps, names).map { ($0, $1) }, context)

    var manifest = ExportManifest(frames: frames)
    manifest.names = names
    var readme = TUMReadme.start()
    let depth = TUMDepth(source, frames.frames)
    if depth.hasPictures {
      try depth.writePictures(folder)
      try writeList("depth.txt", "depth", depth.rows.map { ($0.stamp, $0.name) }, context)
      try writeAssociations(depth, stamps, names, context)
      if depth.sameNames > 0 { manifest.more["depthLeftOut"] = .integer(Int64(depth.sameNames)) }
    }
    TUMReadme.describe(depth, source, &readme)
    let truths = try writeTrajectory(frames.frames, stamps, source)
    TUMReadme.describe(poses: truths, source, &readme)
    if let median = CommonCamera(source, frames.frames) {
      manifest.intrinsicsDeviation = median.largestDeviation
      try folder.write(try camera(median.camera, source), as: "camera.yaml")
      TUMReadme.describe(median, &readme)
    }
    if context.capture.color.value?.isMirrored == true { readme.remarks.append(TUMReadme.mirrored) }
    var content = ExportContent(source, frames.frames)
    content.hasPictures = true
    content.depth = depth.hasPictures ? source.depthChoice : .none
    content.statesDepthTimes = true
    content.cameras = manifest.intrinsicsDeviation == nil ? .none : .one
    content.poses = truths > 0 ? .recorded : .none
    return try folder.finish(manifest, readme, content)
  }

  /// Writes three comment lines, since ORB-SLAM3's `mono_tum` skips exactly three lines.
  private static func writeList(
    _ name: String, _ what: String, _ rows: [(stamp: String, file: String)], _ context: StageContext
  ) throws {
    var list = try LineFile(name, context.staging)
    try list.line("# timestamp filename")
    try list.line("# \(what) pictures; seconds on the capture's own clock")
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
      let numbers = (pose.position + [q.x, q.y, q.z, q.w]).map(MatrixText.number)
      try list.line(([stamps[position]] + numbers).joined(separator: " "))
    }
    try list.finish()
    return rows.count
  }

  private static func camera(_ camera: PinholeCamera, _ source: ExportSource) throws -> String {
    var pairs: [(String, YAMLText.Value)] = [
      ("fx", .number(camera.fx)), ("fy", .number(camera.fy)), ("cx", .number(camera.cx)),
      ("cy", .number(camera.cy)), ("width", .integer(camera.width)),
      ("height", .integer(camera.height)), ("depth_factor", .integer(DepthUnits.tumUnitsPerMeter)),
    ]
    if let lens = source.cameras.distortion {
      pairs.append(("distortion", .numbers(lens.openCVOrder)))
    }
    return try YAMLText.document(pairs)
  }
}
