import Captures
import Core
import Engine
import Media
import Synchronization
import SystemPackage

/// Converts the pictures of a video by the meaning of their values, as the parameter `hdr` asks.
///
/// One peak belongs to the whole video: what the container states, else what its first decoded picture
/// states, else a standard value. So all pictures of a video are mapped alike. Any number of threads may
/// use it, each with its own scratch, after `begin`.
final class ColorLight: Sendable {
  let treatment: HDRTreatment
  private let stated: LightSource
  private let file: FilePath
  private let setup = Mutex<LightSetup?>(nil)
  /// How 16-bit pictures are looked at; `nil` for `sdr`.
  private let view: LightView?

  /// What one worker keeps from picture to picture.
  struct Scratch {
    fileprivate var converter: LightConverter?
    fileprivate(set) var wide: [UInt16] = []
  }

  /// `nil` if pictures stay as they are: nothing is asked for, or they are SDR already. Throws if the
  /// video's values cannot be converted.
  init?(_ context: StageContext, _ color: ColorStream, file: FilePath) throws(StageFailure) {
    guard let treatment = context.parameters[LightParameters.hdr] else { return nil }
    let description = color.description.color ?? VideoColor()
    guard treatment.isWide || description.differsFromSDR else { return nil }
    guard
      let source = LightSource(
        description, matrix: context.parameters[DecodeColor.matrix],
        range: context.parameters[DecodeColor.range])
    else {
      throw StageFailure(
        "\(file.shownName): color.hdr=\(treatment.rawValue) needs the transfer function of the video, and it "
          + "\(description.transfer.map { "is \($0)" } ?? "states none"): leave color.hdr out, or use sdr",
        cause: .input)
    }
    if let problem = LightSetup.problem(source, treatment) {
      throw StageFailure("\(file.shownName): \(problem)", cause: .input)
    }
    self.treatment = treatment
    self.file = file
    stated = source
    view =
      treatment.isWide
      ? LightView(white: treatment == .linear16 ? TransferCurve.white(source) : nil) : nil
  }

  /// Takes the first decoded picture of the video; all later ones change nothing.
  func begin(_ picture: DecodedPicture) {
    setup.withLock { $0 = $0 ?? LightSetup(stated.completed(by: picture), treatment) }
  }

  /// What a file of a 16-bit picture states of its colors.
  var pngColor: PNGColor? { stated.pngColor(treatment) }

  /// Writes the upright picture as 8-bit BT.709 to `rgb`.
  func convert(
    _ picture: DecodedPicture, _ scratch: inout Scratch, into rgb: inout [UInt8]
  ) throws {
    try prepare(&scratch)
    do throws(VideoError) {
      try scratch.converter?.convert(picture, into: &rgb)
    } catch {
      throw named(error)
    }
  }

  /// Writes the upright picture as 16-bit RGB to the scratch.
  func convert(_ picture: DecodedPicture, _ scratch: inout Scratch) throws {
    try prepare(&scratch)
    do throws(VideoError) {
      try scratch.converter?.convert(picture, into: &scratch.wide)
    } catch {
      throw named(error)
    }
  }

  /// Writes a 16-bit picture as 8 bits to `rgb`, for looking and measuring.
  func look(_ wide: [UInt16], into rgb: inout [UInt8]) {
    view?.show(wide, into: &rgb)
  }

  private func prepare(_ scratch: inout Scratch) throws {
    if scratch.converter != nil { return }
    guard let setup = setup.withLock({ $0 }) else {
      throw InternalError("a picture of \(file.shownName) is converted before the first one came")
    }
    scratch.converter = LightConverter(setup)
  }

  private func named(_ error: VideoError) -> StageFailure {
    StageFailure("\(file.shownName): \(error.what)", cause: .input)
  }

  /// What readers of the pictures need to know.
  var published: PublishedLight {
    PublishedLight(setup.withLock { $0 }?.source ?? stated, treatment)
  }
}

/// The parameter by which a stage that decodes color treats videos whose values an ordinary screen does
/// not expect: HDR, logarithmic and linear transfers, and wide primaries.
enum LightParameters {
  static let hdr = Parameter<HDRTreatment?>(
    "hdr", .choice(or: "as-is"), default: nil,
    "Pictures of HDR, logarithmic and P3 videos. as-is: the values of the video. sdr: BT.709, tone-mapped, 8 bits. "
      + "linear16: linear light with the video's primaries, 16-bit PNG. coded16: the video's own values, 16-bit "
      + "PNG, all bits kept. Needs zimg.")

  /// Whether the pictures of a capture are converted by the meaning of their values: 16-bit ones always,
  /// SDR ones if the video is none already.
  static func converts(_ values: ParameterValues, _ capture: CaptureSummary) -> Bool {
    guard capture.colorIsVideo, let treatment = values[hdr] else { return false }
    return treatment.isWide || capture.colorDiffersFromSDR == true
  }

  /// Problems of the parameter with others. They are found once all parameters are set, so that the order
  /// of settings does not matter.
  static func problems(_ values: ParameterValues) -> [StageProblem] {
    guard let treatment = values[hdr] else { return [] }
    if let problem = ZimgLibrary.problem { return [StageProblem(parameter: hdr.name, problem)] }
    guard treatment.isWide else { return [] }
    if values[DecodeColor.format] == .jpeg {
      return [
        StageProblem(
          parameter: hdr.name,
          "\(treatment.rawValue) needs format=png: a JPEG picture holds 8 bits; sdr goes with JPEG")
      ]
    }
    return []
  }

  /// Why a capture without a color video cannot be treated this way; `nil` if it can.
  static func refusal(_ values: ParameterValues, isVideo: Bool) -> String? {
    guard let treatment = values[hdr], treatment.isWide, !isVideo else { return nil }
    return
      "color.hdr=\(treatment.rawValue) needs a color video: stills have 8 bits and are SDR; leave color.hdr out"
  }
}
