import Codecs
import Pipeline

/// Parameters that several stages share, described once.
package enum CommonParameters {
  package static let compression = ParameterDescription(
    "compression", .choice(PNGCompression.allCases.map(\.rawValue)),
    default: .text(PNGCompression.fast.rawValue),
    "How PNG files are compressed: the same pixels, but different size and speed.")

  package static func compression(_ parameters: ParameterValues) -> PNGCompression {
    parameters.text("compression").flatMap(PNGCompression.init) ?? .fast
  }
}
