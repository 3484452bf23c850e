/// A real polynomial by its coefficients, lowest power first.
struct Polynomial {
  var coefficients: [Double]

  /// The value at `x`.
  func callAsFunction(_ x: Double) -> Double {
    coefficients.reversed().reduce(0) { $0 * x + $1 }
  }

  var derivative: Polynomial {
    Polynomial(coefficients: coefficients.enumerated().dropFirst().map { Double($0) * $1 })
  }

  static func + (a: Polynomial, b: Polynomial) -> Polynomial {
    let count = max(a.coefficients.count, b.coefficients.count)
    return Polynomial(coefficients: (0..<count).map { a.coefficient($0) + b.coefficient($0) })
  }

  static func * (a: Polynomial, b: Polynomial) -> Polynomial {
    guard !a.coefficients.isEmpty, !b.coefficients.isEmpty else {
      return Polynomial(coefficients: [])
    }
    var product = [Double](repeating: 0, count: a.coefficients.count + b.coefficients.count - 1)
    for (i, x) in a.coefficients.enumerated() {
      for (j, y) in b.coefficients.enumerated() { product[i + j] += x * y }
    }
    return Polynomial(coefficients: product)
  }

  static func * (factor: Double, a: Polynomial) -> Polynomial {
    Polynomial(coefficients: a.coefficients.map { factor * $0 })
  }

  private func coefficient(_ power: Int) -> Double {
    power < coefficients.count ? coefficients[power] : 0
  }

  /// The positions in `range` where the sign changes, ascending, to the last bit of a double.
  ///
  /// Between neighboring roots of its derivative a polynomial is monotone, so it changes sign at
  /// most once there, and bisection finds it. The derivative's roots come from the same rule one
  /// degree lower. Unlike a scan in steps, this misses no root. A root without a change of sign is
  /// not reported.
  func signChanges(in range: ClosedRange<Double>) -> [Double] {
    guard coefficients.dropFirst().contains(where: { $0 != 0 }) else { return [] }
    let bends = derivative.signChanges(in: range)
    let corners = [range.lowerBound] + bends + [range.upperBound]
    return zip(corners, corners.dropFirst()).compactMap { root(between: $0, and: $1) }
  }

  private func root(between low: Double, and high: Double) -> Double? {
    var (low, high) = (low, high)
    let lowIsPositive = self(low) > 0
    guard lowIsPositive != (self(high) > 0) else { return nil }
    while true {
      let middle = low + (high - low) / 2
      guard low < middle, middle < high else { return high }
      if (self(middle) > 0) == lowIsPositive { low = middle } else { high = middle }
    }
  }
}
