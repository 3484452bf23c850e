/// Quantiles of Student's distribution.
enum StudentQuantile {
  /// The value that is exceeded in size by 5 % of the distribution.
  ///
  /// Cornish and Fisher's expansion: within 0.2 % from 4 degrees of freedom on; less than 4 count as 4.
  static func twoSided95(degreesOfFreedom count: Int) -> Double {
    let n = Double(max(4, count))
    let z = 1.959_963_984_540_054
    let (z3, z5) = (z * z * z, z * z * z * z * z)
    let z7 = z5 * z * z
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n)
      + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n)
  }
}
