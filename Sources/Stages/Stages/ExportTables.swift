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

  public static func content(_ parameters: ParameterValues) -> ArtifactContent { .tables }

  private static let tabled: [CapturePart] = [.poses, .intrinsics, .cameraSettings, .geo]

  public static func reads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { Set(tabled + [.frames, .color]) }

  public static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    .applies
  }

  public static func run(_ context: StageContext) throws -> StageResult {
    let capture = context.capture
    context.progress.expect(capture.frames.count)
    try FramesTable(context).write()
    let turns = capture.color.value?.clockwiseQuarterTurns ?? 0
    if let poses = Tabled(capture.poses) {
      try write(poses.value?.rows ?? [], turnedClockwise: turns, context)
    }
    if let rows = Tabled(capture.intrinsics) {
      try write(
        rows.value ?? [], turnedClockwise: turns, try ShapedRows(context), context)
    }
    if let settings = Tabled(capture.cameraSettings) {
      try write(settings.value?.rows ?? [], context)
    }
    if let geo = Tabled(capture.geo) { try write(geo.value, context) }
    var result = StageResult(frames: capture.frames.count)
    result.problems = problems(of: capture)
    return result
  }

  /// The rows of a stream that has a table; empty if it cannot be read.
  private struct Tabled<Value: Sendable> {
    var value: Value?

    /// `nil` for a stream that was never recorded.
    init?(_ state: StreamState<Value>) {
      if case .absent = state { return nil }
      value = state.value
    }
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
    var table = try TableFile(
      "poses.csv", ["frame", "timestamp_ns", "tx", "ty", "tz", "qx", "qy", "qz", "qw"],
      context.staging)
    for row in poses {
      let p = row.pose.position
      let q = row.pose.turnedClockwise(quarterTurns: turns).orientation
      try table.row(
        row.frame, timestamp(of: row.frame, context), p[0], p[1], p[2], q.x, q.y, q.z, q.w)
    }
    try table.finish()
  }

  /// Writes intrinsics with the turn that makes the pictures upright, of the pictures in `color/`.
  static func write(
    _ rows: [IntrinsicsRow], turnedClockwise turns: Int, _ shaped: ShapedRows?,
    _ context: StageContext
  ) throws {
    var table = try TableFile(
      "intrinsics.csv", ["frame", "width", "height", "fx", "fy", "cx", "cy"], context.staging)
    for row in rows {
      var row = row
      var camera = row.turnedClockwise(quarterTurns: turns)
      if let shaped { (row, camera) = try shaped.shaped(row, camera) }
      try table.row(row.frame, row.width, row.height, camera.fx, camera.fy, camera.cx, camera.cy)
    }
    try table.finish()
  }

  private static func write(_ settings: [CameraSettingsRow], _ context: StageContext) throws {
    var table = try TableFile(
      "camera_settings.csv",
      [
        "frame", "exposure_s", "iso", "gain_red", "gain_green", "gain_blue", "exposure_offset_ev",
      ], context.staging)
    for row in settings {
      try table.row(
        row.frame, row.exposureSeconds, row.iso, row.gainRed, row.gainGreen, row.gainBlue,
        row.exposureOffsetEV)
    }
    try table.finish()
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

/// Writes `frames.csv`: one row per canonical frame. A path in a cell always names an existing
/// file.
struct FramesTable {
  private static let pathColumns = ["color", "depth", "confidence", "aligned"]
  private let context: StageContext
  private let paths: [String: [Int: String]]
  private let settings: [Int: CameraSettingsRow]

  init(_ context: StageContext) {
    self.context = context
    paths = context.inputs.mapValues { input in
      FrameFileName.pictures(in: input.record).mapValues { "\(input.stage)/\($0.path)" }
    }
    let rows = context.capture.cameraSettings.value?.rows ?? []
    settings = Dictionary(rows.map { ($0.frame, $0) }) { first, _ in first }
  }

  func write() throws {
    var table = try TableFile(
      "frames.csv",
      ["frame", "timestamp_ns", "color_timestamp_ns", "depth_timestamp_ns"] + Self.pathColumns
        + ["exposure_s", "iso"], context.staging)
    // Frames that follow from the pictures alone have no rows if their times are of another clock.
    let all = context.capture.frames
    let belong = context.capture.framesProblem == nil || all.allSatisfy { $0.timestamp == nil }
    for (index, frame) in (belong ? all : []).enumerated() {
      table.csv.field(index)
      table.csv.field(frame.timestamp?.nanoseconds)
      table.csv.field(hasColorTime(index) ? frame.colorTimestamp?.nanoseconds : nil)
      table.csv.field(hasDepthTime(index) ? frame.depthTimestamp?.nanoseconds : nil)
      for column in Self.pathColumns { table.csv.field(paths[column]?[index]) }
      try table.row(settings[index]?.exposureSeconds, settings[index]?.iso)
      context.progress.advance()
    }
    try table.finish()
  }

  /// Whether frame `frame` has a color time. A picture file that could not be decoded is a hole
  /// without time; videos tell beforehand which pictures they have.
  private func hasColorTime(_ frame: Int) -> Bool {
    guard case .pictures? = context.capture.color.value?.source, context.inputs["color"] != nil
    else { return true }
    return paths["color"]?[frame] != nil
  }

  /// Whether frame `frame` has a depth time. A record that could not be decoded is a hole without
  /// time; without depth pictures the reader's information is used.
  private func hasDepthTime(_ frame: Int) -> Bool {
    guard context.capture.depthTimesNeedPictures, context.inputs["depth"] != nil else {
      return true
    }
    return paths["depth"]?[frame] != nil
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
