import Captures
import Media
import Core
import Engine
import SystemPackage

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
