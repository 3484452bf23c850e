import Core

/// Finds low relief: steps too small for a discontinuity, so that alignment bridges them, but that
/// must match the outlines of the color picture.
public enum ReliefEdges {
  /// Smallest step in millimeters, and as a fraction of the distance.
  private static let leastMillimeters = 3.0
  private static let leastShare = 0.003
  /// How many times a step must exceed the median unevenness of the picture.
  private static let noiseFactor = 6.0

  /// One flag per pixel: whether depth changes more there than around it.
  ///
  /// Compares the change over one pixel of the depth camera (`span` pixels of this grid to either
  /// side) with the change of the surface around it. Works in 1/Z, in which planes are linear, so
  /// that a slant is not a step. Of the pixels above the threshold, local maxima are kept. Cost:
  /// some nanoseconds per pixel.
  public static func find(in depth: DepthImage, span: Int) -> [Bool] {
    let (width, height) = (depth.width, depth.height)
    let span = max(1, span)
    var edges = [Bool](repeating: false, count: depth.millimeters.count)
    guard width > 6 * span || height > 6 * span else { return edges }
    let inverse = depth.millimeters.map { $0 == 0 ? 0 : 1 / Float($0) }
    for stride in [1, width] {
      let (limit, lines) = stride == 1 ? (width, height) : (height, width)
      let lineStride = stride == 1 ? width : 1
      var strengths = [Float](repeating: 0, count: depth.millimeters.count)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          strengths[index] = step(inverse, at: index, stride: stride * span)
        }
      }
      let noise = Float(noiseFactor) * median(strengths)
      let reach = max(1, span / 2)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          let strength = strengths[index]
          let least = max(leastMillimeters, leastShare * Double(depth.millimeters[index]))
          guard strength > max(Float(least), noise),
            strength > strengths[index - reach * stride],
            strength > strengths[index + reach * stride]
          else { continue }
          let isPeak = (1...reach).allSatisfy {
            strength >= strengths[index - $0 * stride] && strength >= strengths[index + $0 * stride]
          }
          if isPeak { edges[index] = true }
        }
      }
    }
    return edges
  }

  /// In millimeters, how much more 1/Z changes across `index` than on average around it; 0 where a
  /// value is missing.
  private static func step(_ inverse: [Float], at index: Int, stride: Int) -> Float {
    let here = inverse[index]
    let (a, b) = (inverse[index - stride], inverse[index + stride])
    let (farA, farB) = (inverse[index - 3 * stride], inverse[index + 3 * stride])
    guard here > 0, a > 0, b > 0, farA > 0, farB > 0 else { return 0 }
    return max(0, abs(b - a) - abs(farB - farA) / 3) / (here * here)
  }

  /// Median of a sample of the values above 0.
  private static func median(_ values: [Float]) -> Float {
    Median.upper(stride(from: 0, to: values.count, by: 37).map { values[$0] }.filter { $0 > 0 })
      ?? 0
  }
}
