import Captures
import Core
import Engine
import Media
import Synchronization

/// The folder of an export: the writing that all formats share.
final class ExportFolder: Sendable {
  let context: StageContext
  private let ways: [FileSharing]
  /// Number of files by how they were shared.
  private let shared = Mutex<[FileSharing: Int]>([:])

  init(_ context: StageContext) {
    self.context = context
    ways = ExportParameters.ways(context.parameters)
  }

  /// Adds the unchanged file of a frame. Called by any thread.
  func share(_ pictures: ExportPictures, _ frame: Int, as name: String) throws {
    do {
      let way = try pictures.share(frame, into: context.staging, as: name, by: ways)
      shared.withLock { $0[way, default: 0] += 1 }
    } catch var error as FileError where ways.map(\.rawValue) == [error.operation] {
      // A way that was named alone.
      if error.remedy == nil, error.kind != .noSpace {
        error.remedy = "set \(context.stage).share=auto, which takes what the file system allows"
      }
      throw error
    }
  }

  func write(_ text: String, as name: String) throws {
    try context.staging.write(Array(text.utf8), as: name)
  }

  func write(_ bytes: [UInt8], as name: String) throws {
    try context.staging.write(bytes, as: name)
  }

  /// Creates a file that is written in pieces.
  func create(_ name: String) throws -> StagedFile { try context.staging.create(name) }

  /// Writes pictures named by their frames in the form that the export's parameters ask for, with the tags of `source`.
  ///
  /// - Parameter prefix: the beginning of all names.
  func writePictures(
    _ pictures: ExportPictures, _ frames: [Int], of source: ExportSource, as prefix: String
  ) throws -> [String] {
    try writePictures(pictures, frames, of: source) { _, frame, ending in
      prefix + FrameFileName.name(frame, ending)
    }
  }

  /// Writes pictures in the form that the export's parameters ask for, with the tags of `source`.
  func writePictures(
    _ pictures: ExportPictures, _ frames: [Int], of source: ExportSource,
    name: @Sendable (_ position: Int, _ frame: Int, _ ending: String) -> String
  ) throws -> [String] {
    try writePictures(
      pictures, frames, context.parameters[ExportParameters.encoding], exif: FrameEXIF(source),
      name: name)
  }

  /// Writes the pictures of `frames` in the requested form, on all cores if any has to be encoded.
  ///
  /// - Parameters:
  ///   - name: the name of a frame's file, given the index in `frames`, the frame and the extension (`png`, `jpg`).
  ///   - exif: tags that JPEG files get.
  /// - Returns: the names, by index in `frames`.
  @discardableResult func writePictures(
    _ pictures: ExportPictures, _ frames: [Int], _ form: PictureEncoding, exif: FrameEXIF? = nil,
    name: @Sendable (_ position: Int, _ frame: Int, _ ending: String) -> String
  ) throws -> [String] {
    context.progress.expect(frames.count)
    let names = frames.enumerated().map { position, frame in
      name(position, frame, form.ending(of: frame, pictures))
    }
    let tagged = frames.indices.map { exif != nil && names[$0].hasSuffix(".jpg") }
    let made = frames.indices.map { tagged[$0] || form.encodes(frames[$0], pictures) }
    for position in frames.indices where !made[position] {
      try context.cancellation.check()
      try share(pictures, frames[position], as: names[position])
      context.progress.advance()
    }
    try context.each(frames.indices.filter { made[$0] }) { position, writer in
      let frame = frames[position]
      if form.encodes(frame, pictures) {
        let picture = try pictures.color(frame)
        try writer.encode(rgb: picture.rgb, width: picture.width, height: picture.height)
      } else {
        writer.file = try pictures.bytes(frame)
      }
      if tagged[position] { try exif?.insert(frame, into: &writer.file) }
      try context.staging.write(writer.file, as: names[position])
    } makeScratch: {
      try PictureWriter(form, context.parameters)
    }
    return names
  }

  /// Shares the unchanged files of `frames`, named by these.
  @discardableResult func sharePictures(
    _ pictures: ExportPictures, _ frames: [Int], as prefix: String
  ) throws -> [String] {
    try sharePictures(pictures, frames) { _, frame, ending in
      prefix + FrameFileName.name(frame, ending)
    }
  }

  /// Shares the unchanged files of `frames`. Returns the names, by index.
  @discardableResult func sharePictures(
    _ pictures: ExportPictures, _ frames: [Int],
    name: (_ position: Int, _ frame: Int, _ ending: String) -> String
  ) throws -> [String] {
    try frames.enumerated().map { position, frame in
      try context.cancellation.check()
      let name = name(position, frame, pictures.ending(frame) ?? "png")
      try share(pictures, frame, as: name)
      return name
    }
  }

  /// Writes `frames.csv`, `export.json` and `README.txt`, last of all.
  ///
  /// - Parameter content: what the export contains; its assumptions are determined here, for every
  ///   format.
  func finish(_ content: ExportContent, _ readme: ExportReadme) throws -> StageResult {
    var (content, readme) = (content, readme)
    let found = content.assumed
    if let offset = TimeOffsetChoice.json(context) { content.more["timeOffset"] = offset }
    if content.poses == .recorded { readme.conventions.append(Self.origin(of: content.capture)) }
    if content.cameraToIMU != nil, context.parameters[TimeOffsetChoice.extrinsics] != nil {
      readme.conventions.append(
        "Where the IMU is beside the camera is that of the file of Kalibr that was given, turned with the pictures; nothing "
          + "of this recording.")
    }
    readme.remarks += Self.remarks(content)
    if let remark = FrameEXIF.remark(context.parameters) { readme.remarks.append(remark) }
    try PoseSegments(context)?.describe(&content, &readme)
    if let warning = content.exported?.nothingLeft(context) { context.warnings.add(warning) }
    if context.parameters[ExportParameters.masks], context.inputs["masks"] == nil {
      context.warnings.add(
        .masksMissing, context.stage, count: content.frames.count,
        "no masks were made for this capture; its frames are exported without")
    }
    if content.exported != nil { try writeFrames(content.frames, content.names) }
    let ways = shared.withLock { $0 }
    // The most expensive method used: users must know it before they change a file in place.
    let way = [FileSharing.copy, .link, .clone].first { ways[$0, default: 0] > 0 }
    let json = content.json(
      stage: context.stage, assumed: found.map(\.assumption), shared: way)
    try write(JSONText.pretty(json), as: "export.json")
    try write(
      readme.text(
        notMeasured: found.map(\.sentence), content.exported, of: context.capture.frames.count),
      as: "README.txt")
    return StageResult(frames: content.frames.count)
  }

  /// Where poses come from.
  private static func origin(of capture: Capture) -> String {
    switch capture.world {
    case .zUp: "The poses are those that the scene was released with."
    case .yUp: "The poses are what the app tracked, not a reference."
    case .firstCamera:
      "The poses are what the app tracked, not a reference. Their world is that of the first camera: which way is up "
        + "is not known."
    }
  }

  /// The remarks about the capture in the README of every export.
  ///
  /// - Parameter content: only remarks about what the export contains are made.
  private static func remarks(_ content: ExportContent) -> [String] {
    var remarks: [String] = []
    if content.poses == .recorded {
      let isWhole = !PoseSegments.isChosen(content.parameters)
      for warning in content.capture.warnings where warning.code == .poseJump && isWhole {
        remarks.append(
          "The poses jump: \(warning.message). Frames on both sides are here as recorded.")
      }
    }
    if content.hasPictures, content.cameras != .none, !content.isUndistorted,
      content.source?.cameras.distortion != nil
    {
      remarks.append(
        "The pictures are not undistorted; the lens coefficients are written where the format has a place "
          + "for them.")
    }
    if content.hasPictures, content.source?.cameras.isUndistorted == true {
      remarks.append(
        "The pictures are undistorted: those of a pinhole camera, black where the lens shows nothing."
      )
    }
    if content.source?.isDepthDistorted == true, !content.isUndistorted {
      remarks.append(
        "The depth pictures are not undistorted either, and their lens is not written; with --set "
          + "depth.undistort=true they are those of a pinhole.")
    }
    return remarks
  }

  private func writeFrames(_ frames: [Int], _ names: [String]) throws {
    try TableFile.write(
      "frames.csv", ["frame", "timestamp_ns", "name"], frames.enumerated(), context.staging
    ) { position, frame in
      [
        frame, context.capture.frames[frame].pictureTime?.nanoseconds,
        names.indices.contains(position) ? names[position] : "",
      ]
    }
  }
}

/// What an export says about the time offset between camera and IMU.
extension TimeOffsetChoice {
  /// A sentence for `README.txt`; `nil` if no offset is added.
  ///
  /// - Parameter names: whether files are named by time.
  static func sentence(_ context: StageContext, names: Bool = false) -> String? {
    guard isSet(context.parameters) else { return nil }
    // Without inertial samples nothing is measured, and nothing is added.
    if isAuto(context.parameters), words(context) == nil { return nil }
    let what =
      isOfFile(context.parameters)
      ? "timeshift_cam_imu of the file of Kalibr that was given (0 if it has none)"
      : "timeOffset" + (words(context).map { ", measured as \($0)," } ?? "")
    return
      "\(what) is added to the times \(names ? "and names " : "")of pictures; frames.csv has the times "
      + "without it."
  }

  /// A remark for formats of tools that calibrate: the readout that the app states, for which they have no field
  /// in the files of a recording; `nil` if it states none.
  static func readoutRemark(_ context: StageContext) -> String? {
    context.capture.color.value?.description.readoutSeconds.map { seconds in
      "The app states that the rows of a picture are read out within \(ExportReadme.rounded(seconds * 1000)) ms "
        + "(rolling shutter, median of the frames). No file here has a field for it."
    }
  }

  /// `timeOffset` of `export.json`: what was measured and added; `nil` if nothing was measured.
  static func json(_ context: StageContext) -> JSONValue? {
    guard let measured = measured(context), let offset = measured.nanoseconds,
      let interval = measured.interval
    else { return nil }
    return .object([
      "offsetNs": .integer(offset), "lowNs": .integer(interval.low),
      "highNs": .integer(interval.high),
    ])
  }
}

/// How the pictures of an export are encoded.
extension PictureEncoding {
  /// The port of the pictures: pictures that a stage has already encoded are not encoded again.
  static func port(_ parameters: ParameterValues) -> String {
    parameters[ExportParameters.encoding] == .jpeg
      && parameters[ExportParameters.quality] == PictureWriter.usualQuality ? "jpeg" : "color"
  }

  /// Whether a frame's file must be encoded; one that has the format already is shared unchanged.
  func encodes(_ frame: Int, _ pictures: ExportPictures) -> Bool {
    ending(of: frame, pictures) != pictures.ending(frame) && self != .same
  }

  func ending(of frame: Int, _ pictures: ExportPictures) -> String {
    switch self {
    case .same: pictures.ending(frame) ?? "png"
    case .png: "png"
    case .jpeg: "jpg"
    }
  }
}

extension PictureWriter {
  init(_ form: PictureEncoding, _ parameters: ParameterValues) throws {
    try self.init(
      jpegQuality: form == .jpeg ? parameters[ExportParameters.quality] : nil, parameters)
  }
}
