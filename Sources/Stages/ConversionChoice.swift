import Codecs
import Pipeline

/// How pictures become RGB, from the parameters of `decode-color`.
struct ConversionChoice {
  let parameters: ParameterValues

  init(_ parameters: ParameterValues) {
    self.parameters = parameters
  }
}
