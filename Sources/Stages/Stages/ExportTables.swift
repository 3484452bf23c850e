import Captures
import Core
import Engine
import Media
import Processing
import SystemPackage

/// Writes the CSV tables of a capture: frames, poses, intrinsics, camera settings, positions.
///
/// The table of a missing stream is not written; a table without rows has only a header. If a file
/// cannot be read, its table is empty, the others are published, and the stage has failed.
public enum ExportTables: Stage {
  public static let name = "export-tables"
  public static let version = 2
  public static let sentence =
    "Writes frames.csv and, where recorded, poses, intrinsics, camera settings and positions."
  public static let ports = [
    Port("color", .colorImages, isRequired: false, "for the paths in frames.csv"),
    Port("depth", .depthImages, isRequired: false, "for the paths in frames.csv"),
    Port("confidence", .confidenceImages, isRequired: false, "for the paths in frames.csv"),
    Port("aligned", .alignedImages, isRequired: false, "for the paths in frames.csv"),
  ]
  public static let parameters: [ParameterDescription] = []
  /// `frames.csv` contains paths.
  public static let namesFilesOfInputs = true

  public static let content = ArtifactContent.tables

  public static let reads: Set<CapturePart> = [
    .poses, .intrinsics, .cameraSettings, .geo, .frames, .color,
  ]

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    .applies
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let capture = context.capture
    context.progress.expect(capture.frames.count)
    try writeFrames(context)
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    if capture.poses.hasTable {
      try write(capture.poses.value?.rows ?? [], turnedClockwise: turns, context)
    }
    if capture.intrinsics.hasTable {
      try write(
        capture.intrinsics.value ?? [], turnedClockwise: turns, try ShapedRows(context), context)
    }
    if capture.cameraSettings.hasTable {
      try write(capture.cameraSettings.value?.rows ?? [], context)
    }
    if capture.geo.hasTable { try write(capture.geo.value, context) }
    var result = StageResult(frames: capture.frames.count)
    result.problems = problems(of: capture)
    return result
  }

  /// Unreadable files, each once.
  private static func problems(of capture: Capture) -> [String] {
    let errors = [
      capture.framesProblem, capture.poses.error, capture.intrinsics.error,
      capture.cameraSettings.error, capture.geo.error,
    ]
    var seen: Set<String> = []
    return errors.compactMap { $0?.description }.filter { seen.insert($0).inserted }
  }

  /// Writes poses with the turn that makes the pictures upright, as for intrinsics.
  private static func write(
    _ poses: [PoseStream.Row], turnedClockwise turns: Int, _ context: StageContext
  ) throws {
    try TableFile.write(
      "poses.csv", ["frame", "timestamp_ns", "tx", "ty", "tz", "qx", "qy", "qz", "qw"], poses,
      context.staging
    ) { row in
      let p = row.pose.position
      let q = row.pose.turnedClockwise(quarterTurns: turns).orientation
      return [row.frame, timestamp(of: row.frame, context), p[0], p[1], p[2], q.x, q.y, q.z, q.w]
    }
  }

  /// Writes intrinsics with the turn that makes the pictures upright, of the pictures in `color/`.
  static func write(
    _ rows: [IntrinsicsRow], turnedClockwise turns: Int, _ shaped: ShapedRows?,
    _ context: StageContext
  ) throws {
    try TableFile.write(
      "intrinsics.csv", ["frame", "width", "height", "fx", "fy", "cx", "cy"], rows, context.staging
    ) { row in
      var row = row
      var camera = row.turnedClockwise(quarterTurns: turns)
      if let shaped { (row, camera) = try shaped.shaped(row, camera) }
      return [row.frame, row.width, row.height, camera.fx, camera.fy, camera.cx, camera.cy]
    }
  }

  private static func write(_ settings: [CameraSettingsRow], _ context: StageContext) throws {
    try TableFile.write(
      "camera_settings.csv",
      [
        "frame", "exposure_s", "iso", "gain_red", "gain_green", "gain_blue", "exposure_offset_ev",
      ], settings, context.staging
    ) {
      [
        $0.frame, $0.exposureSeconds, $0.iso, $0.gainRed, $0.gainGreen, $0.gainBlue,
        $0.exposureOffsetEV,
      ]
    }
  }

  private static func write(_ geo: GeoStream?, _ context: StageContext) throws {
    // Most recorders have no altitude.
    let hasAltitude = geo?.track.hasAltitude ?? false
    var table = try TableFile(
      "geo.csv",
      [
        "frame", "timestamp_ns", "latitude_deg", "longitude_deg", "accuracy_m", "heading_deg",
        "source",
      ] + (hasAltitude ? ["altitude_m"] : []), context.staging)
    guard let geo else { return try table.finish() }
    let frames = context.capture.frames
    func row(
      _ frame: Int, _ latitude: Double?, _ longitude: Double?, _ accuracy: Double?,
      _ heading: Double?, _ source: GeoSample.Source?, _ altitude: Double?
    ) throws {
      let cells: [(any CSVCell)?] = [
        frame, frames[frame].timestamp?.nanoseconds, latitude, longitude, accuracy, heading,
        source?.rawValue,
      ]
      try table.row(cells + (hasAltitude ? [altitude] : []))
    }
    if case .frames(let measured) = geo.coverage {
      for (frame, position) in zip(measured, geo.track.positions) where frame < frames.count {
        try row(
          frame, position.latitude, position.longitude, position.accuracy, nil, .measured,
          position.altitude)
      }
      return try table.finish()
    }
    let sampler = GeoTrackSampler(geo.track)
    let count = geo.coverage == .firstFrameOnly ? min(1, frames.count) : frames.count
    for frame in 0..<count {
      // A single position of the whole capture is written as measured at its frame, whatever its
      // time.
      let sample =
        geo.coverage == .firstFrameOnly
        ? sampler.sample(at: geo.track.positions.first?.timestamp ?? Timestamp(nanoseconds: 0))
        : frames[frame].timestamp.map(sampler.sample)
      try row(
        frame, sample?.latitude, sample?.longitude, sample?.accuracy, sample?.heading,
        sample?.source, sample?.altitude)
    }
    try table.finish()
  }

  private static func timestamp(of frame: Int, _ context: StageContext) -> Int64? {
    let frames = context.capture.frames
    return frames.indices.contains(frame) ? frames[frame].timestamp?.nanoseconds : nil
  }
}

extension StreamState {
  /// Whether the stream has a table: it was recorded, readable or not.
  fileprivate var hasTable: Bool { if case .absent = self { false } else { true } }
}

/// Gives rows of intrinsics the shape of the pictures in `color/`.
struct ShapedRows {
  private let published: PublishedShape
  private let lens: LensDistortion
  private let size: (width: Int, height: Int)?

  /// `nil` if the pictures are as the camera recorded them, or there are none.
  init?(_ context: StageContext) throws {
    guard let record = context.inputs["color"]?.record, let published = PublishedShape(record)
    else { return nil }
    self.published = published
    let color = context.capture.color.value
    lens = (context.capture.alignment?.colorDistortion ?? .none)
      .turnedClockwise(quarterTurns: color?.clockwiseQuarterTurns ?? 0)
    size = color?.description.width.flatMap { width in
      color?.description.height.map { (width, $0) }
    }
  }

  /// A row with its upright camera. Throws if no size is known.
  func shaped(
    _ row: IntrinsicsRow, _ upright: PinholeCamera
  ) throws -> (row: IntrinsicsRow, camera: PinholeCamera) {
    var row = row
    var recorded = upright
    (recorded.width, recorded.height) = (
      row.width ?? size?.width ?? 0, row.height ?? size?.height ?? 0
    )
    let camera: PinholeCamera
    if let stated = published.camera {
      camera = stated
    } else {
      guard recorded.width > 0, recorded.height > 0 else {
        throw StageFailure(
          "intrinsics.csv: frame \(row.frame): the size of the picture is not known, so its intrinsics cannot "
            + "follow color.size and color.undistort", cause: .input)
      }
      guard
        let found = published.shape.camera(from: LensCamera(pinhole: recorded, distortion: lens))
      else {
        throw AlignmentError.noUndistortedCamera(alpha: published.shape.alpha ?? 0)
      }
      camera = found.pinhole
    }
    (row.width, row.height) = (camera.width, camera.height)
    return (row, camera)
  }
}

extension IntrinsicsRow {
  /// The intrinsics of the upright picture, whose size the row states; unchanged if the size is
  /// unknown.
  func turnedClockwise(quarterTurns: Int) -> PinholeCamera {
    let isSideways = quarterTurns % 2 != 0
    let (w, h) = isSideways ? (height, width) : (width, height)
    let stored = PinholeCamera(width: w ?? 0, height: h ?? 0, fx: fx, fy: fy, cx: cx, cy: cy)
    guard w != nil, h != nil else { return stored }
    return stored.turnedClockwise(quarterTurns: quarterTurns)
  }
}

extension ExportTables {
  private static let pathColumns = ["color", "depth", "confidence", "aligned"]

  /// Writes `frames.csv`: one row per canonical frame. A path in a cell always names an existing file.
  private static func writeFrames(_ context: StageContext) throws {
    let capture = context.capture
    let paths = context.inputs.mapValues { input in
      FrameFileName.pictures(in: input.record).mapValues { "\(input.stage)/\($0.path)" }
    }
    let settings = Dictionary(
      (capture.cameraSettings.value?.rows ?? []).map { ($0.frame, $0) }
    ) { first, _ in first }
    // A picture file that could not be decoded is a hole without time; videos tell beforehand which pictures they have.
    var colorTimesNeedPictures = false
    if case .pictures? = capture.color.value?.source { colorTimesNeedPictures = true }
    // Without pictures of a stream the reader's information is used.
    func hasTime(_ frame: Int, _ stream: String, needsPicture: Bool) -> Bool {
      !needsPicture || context.inputs[stream] == nil || paths[stream]?[frame] != nil
    }
    var table = try TableFile(
      "frames.csv",
      ["frame", "timestamp_ns", "color_timestamp_ns", "depth_timestamp_ns"] + pathColumns
        + ["exposure_s", "iso"], context.staging)
    // Frames that follow from the pictures alone have no rows if their times are of another clock.
    let all = capture.frames
    let belong = capture.framesProblem == nil || all.allSatisfy { $0.timestamp == nil }
    for (index, frame) in (belong ? all : []).enumerated() {
      let hasColorTime = hasTime(index, "color", needsPicture: colorTimesNeedPictures)
      let hasDepthTime = hasTime(index, "depth", needsPicture: capture.depthTimesNeedPictures)
      table.csv.field(index)
      table.csv.field(frame.timestamp?.nanoseconds)
      table.csv.field(hasColorTime ? frame.colorTimestamp?.nanoseconds : nil)
      table.csv.field(hasDepthTime ? frame.depthTimestamp?.nanoseconds : nil)
      for column in pathColumns { table.csv.field(paths[column]?[index]) }
      try table.row(settings[index]?.exposureSeconds, settings[index]?.iso)
      context.progress.advance()
    }
    try table.finish()
  }
}

/// A CSV table of an artifact, written in pieces of 1 MiB.
struct TableFile: ~Copyable {
  var csv: CSVWriter
  private let file: StagedFile

  init(_ name: String, _ columns: [String], _ staging: StagingFolder) throws {
    csv = CSVWriter(columns: columns)
    file = try staging.create(name)
  }

  /// Writes a whole table, a row for each of `rows`.
  static func write<Row>(
    _ name: String, _ columns: [String], _ rows: some Sequence<Row>, _ staging: StagingFolder,
    _ cells: (Row) throws -> [(any CSVCell)?]
  ) throws {
    var table = try TableFile(name, columns, staging)
    for row in rows { try table.row(cells(row)) }
    try table.finish()
  }

  mutating func row(_ cells: [(any CSVCell)?]) throws {
    csv.row(cells)
    try flushIfLong()
  }

  mutating func row(_ cells: (any CSVCell)?...) throws { try row(cells) }

  mutating func endRow() throws {
    csv.endRow()
    try flushIfLong()
  }

  private mutating func flushIfLong() throws {
    if csv.pendingByteCount > 1 << 20 { try flush() }
  }

  /// Writes the rest; without this call the file does not become part of the artifact.
  mutating func finish() throws {
    try flush()
    try file.finish()
  }

  private mutating func flush() throws {
    try csv.drain { try file.append($0) }
  }
}
