import CRendering

/// A table of 4,096 numbers with mean 0 and deviation 1, so that noise takes a lookup per pixel:
/// five from every 64 random bits. 16 KiB, which fits the first-level cache.
enum NoiseTable {
  static let indexBits = UInt64(SCANMILL_RENDER_NOISE_BITS)

  static let values: [Float] = {
    let count = 1 << Int(indexBits)
    var random = SeededRandom(seed: 0, "noise table")
    // In pairs of opposite sign, so that the mean is exactly 0.
    var half = (0..<(count / 2)).map { _ in random.gaussian() }
    let deviation = (half.reduce(0) { $0 + $1 * $1 } / Double(half.count)).squareRoot()
    half = half.map { $0 / deviation }
    return (half + half.map { -$0 }).map { Float($0) }
  }()
}
