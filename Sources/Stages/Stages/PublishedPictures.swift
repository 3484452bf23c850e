import Captures
import Core
import Engine
import Media
import Processing
import SystemPackage

/// How the pictures of an artifact differ from those of the camera, as its record states it.
struct PublishedShape: Hashable {
  var shape: PictureShape
  /// The camera of all pictures, if they were undistorted with a calibration file; `nil` if it follows
  /// from the capture's own intrinsics.
  var camera: PinholeCamera?
  /// The lens that was removed, upright, if it was that of a calibration file.
  var removed: LensDistortion?
}

extension PublishedShape {
  /// The key in records.
  static let key = "pictureShape"

  /// From the record of a stage; pictures as recorded by the camera have none.
  init?(_ record: ArtifactRecord) {
    guard case .object(let stated)? = record.recorded[Self.key] else { return nil }
    var shape = PictureShape()
    if case .bool(let isUndistorted)? = stated["undistorted"] { shape.undistorts = isUndistorted }
    shape.alpha = stated["alpha"]?.number
    if case .string(let text)? = stated["size"] { shape.sizing = PictureSizing(text) }
    self.shape = shape
    camera = Self.camera(stated["camera"])
    if case .array(let numbers)? = stated["removedDistortion"] {
      removed = LensDistortion(openCVOrder: numbers.compactMap(\.number))
    }
  }

  /// The camera of the pictures of an artifact that states one for all; `nil` otherwise.
  static func outputCamera(_ record: ArtifactRecord) -> PinholeCamera? {
    camera(record.recorded["outputIntrinsics"])
  }

  private static func camera(_ value: JSONValue?) -> PinholeCamera? {
    guard case .object(let camera)? = value, let width = camera["width"]?.number,
      let height = camera["height"]?.number, let fx = camera["fx"]?.number,
      let fy = camera["fy"]?.number, let cx = camera["cx"]?.number,
      let cy = camera["cy"]?.number, let columns = Int(exactly: width),
      let rows = Int(exactly: height)
    else { return nil }
    return PinholeCamera(width: columns, height: rows, fx: fx, fy: fy, cx: cx, cy: cy)
  }

  /// What goes into the record; empty for pictures as recorded by the camera.
  var recorded: [String: JSONValue] {
    guard !shape.isAsRecorded else { return [:] }
    var stated: [String: JSONValue] = ["undistorted": .bool(shape.undistorts)]
    stated["alpha"] = shape.undistorts ? shape.alpha.map(JSONValue.number) : nil
    stated["size"] = shape.sizing.map { .string($0.text) }
    stated["camera"] = camera.map(\.recorded)
    stated["removedDistortion"] = removed.map { .array($0.openCVOrder.map { .number($0 + 0) }) }
    return [Self.key: .object(stated)]
  }

  /// Throws if the undistorted pictures of `stage` belong to another camera than a calibration file
  /// says, which a stage was given for all of them.
  ///
  /// - Parameters:
  ///   - expected: the camera of the shaped pictures by the calibration that the stage uses; `nil` =
  ///     unknown.
  ///   - lens: the lens of the upright pictures before, by the same calibration.
  ///   - usesFile: whether that is a file of the user.
  func check(
    _ expected: PinholeCamera?, _ lens: LensDistortion, usesFile: Bool, of stage: String
  ) throws {
    guard shape.undistorts else { return }
    let isSame =
      switch (camera, usesFile) {
      case (nil, false): true
      case (nil, true): false
      case (let camera?, _):
        (expected.map { camera.isNear($0) } ?? true) && (removed.map { $0 == lens } ?? true)
      }
    guard isSame else {
      throw StageFailure(
        "the pictures of '\(stage)' were undistorted with "
          + (camera == nil ? "the capture's own calibration" : "another calibration file")
          + ": give this stage and '\(stage)' the same calibration", cause: .input)
    }
  }
}

extension PinholeCamera {
  /// The form in records.
  var recorded: JSONValue {
    .object([
      "width": .integer(Int64(width)), "height": .integer(Int64(height)), "fx": .number(fx),
      "fy": .number(fy), "cx": .number(cx), "cy": .number(cy),
    ])
  }

  /// Whether two cameras agree within a hundredth of a pixel.
  fileprivate func isNear(_ other: PinholeCamera) -> Bool {
    (width, height) == (other.width, other.height)
      && zip([fx, fy, cx, cy], [other.fx, other.fy, other.cx, other.cy]).allSatisfy {
        abs($0 - $1) < 0.01
      }
  }
}

/// What the values of an artifact's color pictures mean, as its record states it.
struct PublishedLight: Hashable {
  var treatment: HDRTreatment
  /// Transfer of the video, as in `capture.json`; `nil` if the pictures were not converted.
  var transfer: String?
  var primaries: String?
  /// Whether the primaries are assumed, because the video states none.
  var assumesPrimaries = false
  /// The largest luminance of the video, in candela per square meter, and where it is known from.
  var peak: Double?
  var peakOrigin: String?
  /// With `linear16`, the value of white, as a part of the largest one.
  var white: Double?
  /// Why pictures were not converted; `nil` if they were.
  var unconverted: String?

  var isConverted: Bool { unconverted == nil }
  /// Whether pictures have 16 bits.
  private var isWide: Bool { isConverted && treatment.isWide }

  /// The key in records.
  static let key = ArtifactRecord.lightKey

  init(_ source: LightSource, _ treatment: HDRTreatment) {
    self.treatment = treatment
    transfer = source.transferName
    primaries = source.primariesName
    assumesPrimaries = source.assumesPrimaries
    if treatment == .sdr {
      peak = source.peak
      peakOrigin = source.peakOrigin.rawValue
    }
    white = treatment == .linear16 ? TransferCurve.white(source) : nil
  }

  /// Pictures that are what is asked for without conversion.
  init(unconverted why: String, _ treatment: HDRTreatment) {
    self.treatment = treatment
    unconverted = why
  }

  /// Why the pictures of a stream are SDR already.
  static func reason(_ color: ColorStream) -> String {
    guard case .video = color.source else { return "the color pictures are stills, which are SDR" }
    guard let transfer = color.description.color?.transfer else {
      return "the video states no transfer and no wide primaries, and is taken for SDR"
    }
    return "the video is SDR: its transfer is \(transfer)"
  }

  /// From the record of a stage; pictures of runs that asked for nothing have none.
  init?(_ record: ArtifactRecord) {
    guard case .object(let stated)? = record.recorded[Self.key],
      case .string(let name)? = stated["hdr"], let treatment = HDRTreatment(rawValue: name)
    else { return nil }
    self.treatment = treatment
    if case .string(let text)? = stated["transfer"] { transfer = text }
    if case .string(let text)? = stated["primaries"] { primaries = text }
    if case .bool(let isAssumed)? = stated["primariesAssumed"] { assumesPrimaries = isAssumed }
    peak = stated["peak"]?.number
    if case .string(let text)? = stated["peakFrom"] { peakOrigin = text }
    white = record.whiteOfLinearLight
    if case .string(let text)? = stated["unconverted"] { unconverted = text }
  }

  var recorded: [String: JSONValue] {
    var stated: [String: JSONValue] = ["hdr": .string(treatment.rawValue)]
    stated["transfer"] = transfer.map(JSONValue.string)
    stated["primaries"] = primaries.map(JSONValue.string)
    stated["primariesAssumed"] = assumesPrimaries ? .bool(true) : nil
    stated["peak"] = peak.map(JSONValue.number)
    stated["peakFrom"] = peakOrigin.map(JSONValue.string)
    stated["white"] = white.map(JSONValue.number)
    stated["unconverted"] = unconverted.map(JSONValue.string)
    return [Self.key: .object(stated)]
  }

  /// Reads a picture of the artifact as 8-bit RGB for looking and measuring, not for use: of 16-bit
  /// pictures, white becomes 255, what is brighter too, and primaries stay.
  static func look(_ file: FilePath, _ light: PublishedLight?) throws -> ColorImage {
    guard let light, light.isWide else { return try StillImage.read(file).picture }
    let wide = try PNGReader.wideColor(at: file)
    var rgb: [UInt8] = []
    LightView(white: light.white).show(wide.rgb, into: &rgb)
    return ColorImage(width: wide.width, height: wide.height, rgb: rgb)
  }

  /// Throws if pictures of 16 bits would lose their meaning in 8 bits.
  ///
  /// - Parameter light: of the pictures of `stage`; `nil` for 8-bit ones.
  static func checkEightBits(_ light: PublishedLight?, of stage: String) throws {
    guard let light, light.isWide else { return }
    throw StageFailure(
      "the pictures of '\(stage)' have 16 bits (\(stage).hdr=\(light.treatment.rawValue)), and pictures of 8 bits "
        + "are needed here: set \(stage).hdr=sdr, or leave this out", cause: .input)
  }
}

/// The pictures of an artifact by canonical frame.
struct PublishedPictureFiles {
  private let files: [Int: FilePath]
  private let stage: String
  private let light: PublishedLight?

  init(_ input: InputArtifact) {
    stage = input.stage
    light = PublishedLight(input.record)
    files = FrameFileName.pictures(in: input.record).mapValues { input.folder.appending($0.path) }
  }

  /// Frames with a picture, ascending.
  var frames: [Int] { files.keys.sorted() }

  subscript(frame: Int) -> FilePath? { files[frame] }

  /// The frame's picture, PNG or JPEG; `nil` without one. Throws for pictures of 16 bits.
  func color(_ frame: Int) throws -> ColorImage? {
    try PublishedLight.checkEightBits(light, of: stage)
    return try files[frame].map { try StillImage.read($0).picture }
  }

  /// The frame's picture for looking and measuring, also if it has 16 bits; `nil` without one.
  func look(_ frame: Int) throws -> ColorImage? {
    try files[frame].map(look)
  }

  /// The picture in a file of the artifact, for looking and measuring.
  func look(_ file: FilePath) throws -> ColorImage { try PublishedLight.look(file, light) }
}
