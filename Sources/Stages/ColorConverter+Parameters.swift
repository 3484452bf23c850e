import Codecs
import Pipeline

extension ColorConverter {
  /// A converter as the parameters of `decode-color` ask for it; `auto` goes by the stream's tags.
  init(parameters: ParameterValues) {
    self.init(
      conversion: parameters.text("conversion").flatMap(ColorConversion.init) ?? .ffmpeg,
      matrix: parameters.text("matrix").flatMap(ColorMatrix.init),
      range: parameters.text("range").flatMap(ColorRange.init))
  }
}
