/// A sum of sinusoids about a mean, with exact first and second derivatives.
struct HarmonicSum: Sendable {
  struct Term: Sendable {
    var amplitude: Double
    /// Radians per second.
    var rate: Double
    var phase: Double
  }

  var mean: Double
  var terms: [Term]

  func value(at time: Double) -> Double {
    terms.reduce(mean) { $0 + $1.amplitude * Trigonometry.sine($1.rate * time + $1.phase) }
  }

  func firstDerivative(at time: Double) -> Double {
    terms.reduce(0) {
      $0 + $1.amplitude * $1.rate * Trigonometry.cosine($1.rate * time + $1.phase)
    }
  }

  func secondDerivative(at time: Double) -> Double {
    terms.reduce(0) {
      $0 - $1.amplitude * $1.rate * $1.rate * Trigonometry.sine($1.rate * time + $1.phase)
    }
  }
}
