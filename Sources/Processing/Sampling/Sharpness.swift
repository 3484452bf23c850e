/// Sharpness of a picture: the variance of its Laplacian, in integers, so that comparisons give the
/// same result on every machine.
public struct Sharpness: Hashable, Sendable, Comparable {
  /// count² × variance of the 3×3 Laplacian (0 1 0 / 1 -4 1 / 0 1 0), without the border.
  private let numerator: Int128
  /// Number of pixels without the border.
  private let count: Int64

  /// Number of values of at most 1,020 whose squares fit 32 bits, in which several are added at once.
  private static let columnsAtOnce = 4096

  /// `gray` is brightness 0…255, row by row. A picture without inner pixels has sharpness 0.
  public init(gray: [UInt8], width: Int, height: Int) {
    guard width > 2, height > 2, gray.count == width * height else {
      (numerator, count) = (0, 1)
      return
    }
    var sum: Int64 = 0
    var squares: Int64 = 0
    gray.withUnsafeBufferPointer { gray in
      for y in 1..<height - 1 {
        let row = y &* width
        var start = 1
        while start < width - 1 {
          let end = min(start + Self.columnsAtOnce, width - 1)
          var partSum: Int32 = 0
          var partSquares: UInt32 = 0
          for x in start..<end {
            let at = row &+ x
            let neighbors =
              Int32(gray[at &- 1]) &+ Int32(gray[at &+ 1]) &+ Int32(gray[at &- width])
              &+ Int32(gray[at &+ width])
            let value = neighbors &- 4 &* Int32(gray[at])
            partSum &+= value
            partSquares &+= UInt32(bitPattern: value &* value)
          }
          sum &+= Int64(partSum)
          squares &+= Int64(partSquares)
          start = end
        }
      }
    }
    count = Int64((width - 2) * (height - 2))
    // Variance = E[x²] - E[x]²; times count², all integers. 128 bits hold it for any picture.
    numerator = Int128(squares) * Int128(count) - Int128(sum) * Int128(sum)
  }

  /// The variance itself, in levels².
  public var variance: Double { Double(numerator) / (Double(count) * Double(count)) }

  /// Compares variances as exact fractions, also of pictures of different sizes.
  public static func < (a: Sharpness, b: Sharpness) -> Bool {
    if a.count == b.count { return a.numerator < b.numerator }
    return a.variance < b.variance
  }
}
