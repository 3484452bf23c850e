import Media
import Engine

extension ColorConverter {
  /// A converter with the parameters of `decode-color`; `auto` follows the stream's tags.
  init(parameters: ParameterValues) {
    self.init(
      conversion: parameters.text("conversion").flatMap(ColorConversion.init) ?? .ffmpeg,
      matrix: parameters.text("matrix").flatMap(ColorMatrix.init),
      range: parameters.text("range").flatMap(ColorRange.init))
  }
}
