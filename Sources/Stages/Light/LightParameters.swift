import Captures
import Media
import Engine

/// The parameter by which a stage that decodes color treats videos whose values an ordinary screen does
/// not expect: HDR, logarithmic and linear transfers, and wide primaries.
///
/// It is left out of records and fingerprints while it has its default.
package enum LightParameters {
  /// The value that leaves pictures as the ffmpeg program gives them.
  static let asIs = "as-is"
  static let name = "hdr"

  package static let own: [ParameterDescription] = [
    ParameterDescription(
      name, .choice([asIs] + HDRTreatment.allCases.map(\.rawValue)), default: .text(asIs),
      "Pictures of HDR, logarithmic and P3 videos. as-is: the values of the video. sdr: BT.709, tone-mapped, 8 bits. "
        + "linear16: linear light with the video's primaries, 16-bit PNG. coded16: the video's own values, 16-bit "
        + "PNG, all bits kept. Needs zimg."
    ).omittedAtDefault()
  ]

  /// `nil` for pictures as they are.
  static func treatment(_ values: ParameterValues) -> HDRTreatment? {
    values.text(name).flatMap(HDRTreatment.init)
  }

  /// Whether the pictures of a capture are converted by the meaning of their values: 16-bit ones always,
  /// SDR ones if the video is none already.
  static func converts(_ values: ParameterValues, _ capture: CaptureSummary) -> Bool {
    guard capture.colorIsVideo, let treatment = treatment(values) else { return false }
    return treatment.isWide || capture.colorDiffersFromSDR == true
  }

  /// Problems of the parameter with others. They are found once all parameters are set, so that the order
  /// of settings does not matter.
  static func problems(_ values: ParameterValues) -> [StageProblem] {
    guard let treatment = treatment(values) else { return [] }
    if let problem = ZimgLibrary.problem { return [StageProblem(parameter: name, problem)] }
    guard treatment.isWide else { return [] }
    if values.text("format") == "jpeg" {
      return [
        StageProblem(
          parameter: name,
          "\(treatment.rawValue) needs format=png: a JPEG picture holds 8 bits; sdr goes with JPEG")
      ]
    }
    return []
  }

  /// Why a capture without a color video cannot be treated this way; `nil` if it can.
  static func refusal(_ values: ParameterValues, isVideo: Bool) -> String? {
    guard let treatment = treatment(values), treatment.isWide, !isVideo else { return nil }
    return
      "color.hdr=\(treatment.rawValue) needs a color video: stills have 8 bits and are SDR; leave color.hdr out"
  }
}
