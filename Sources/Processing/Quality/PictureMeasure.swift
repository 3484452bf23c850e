import Core

/// What one picture shows of its own quality: how sharp it is, how much of it is clipped, and by what it
/// is compared with others.
///
/// Pictures are reduced by a whole factor until their longest side is at most `longestSide` pixels,
/// so that sharpness means the same for every size of video, and noise of single pixels counts less.
public struct PictureMeasure: Hashable, Sendable {
  /// Variance of the Laplacian (0 1 0 / 1 -4 1 / 0 1 0) of the reduced brightness, in levels².
  public var sharpness: Double
  /// How little it changes when it is blurred once more, 0…1 (`blurEffect` of the reduced brightness); `nil` where
  /// nothing can be seen of it.
  public var blur: Double?
  /// How wide it is blurred.
  public var blurWidth: BlurWidth
  /// Share of sampled pixels whose three channels are all at most `darkLevel`, 0…1.
  public var darkShare: Double
  /// Share of sampled pixels with a channel of at least `brightLevel`, 0…1.
  public var brightShare: Double
  /// Fingerprint of the reduced brightness.
  public var fingerprint: PictureFingerprint

  /// 1,296 to 1,920 columns become 432 to 640: details of a pixel are lost, blur by motion is not.
  static let longestSide = 640
  /// Video black is 0 after conversion; noise of a black picture stays below.
  static let darkLevel: UInt8 = 5
  static let brightLevel: UInt8 = 250

  public init(
    sharpness: Double, blur: Double? = nil, blurWidth: BlurWidth, darkShare: Double,
    brightShare: Double, fingerprint: PictureFingerprint
  ) {
    self.sharpness = sharpness
    self.blur = blur
    self.blurWidth = blurWidth
    self.darkShare = darkShare
    self.brightShare = brightShare
    self.fingerprint = fingerprint
  }

  /// Measures a picture of 8-bit RGB, row by row; `nil` if the bytes are not those of the size, or a
  /// side is below 3 pixels. Cost: one pass over the bytes, and one over a quarter of them.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard width > 2, height > 2, rgb.count == width * height * 3 else { return nil }
    func brightness(_ factor: Int, _ rows: Range<Int>? = nil) -> BlockReduction.Brightness? {
      BlockReduction.brightness(
        rgb: rgb, width: width, height: height, by: factor, rows: rows, darkLevel: Self.darkLevel,
        brightLevel: Self.brightLevel)
    }
    guard
      let reduced = brightness(
        BlockReduction.factor(width: width, height: height, longestSide: Self.longestSide)),
      reduced.width > 2, reduced.height > 2
    else { return nil }
    let pixels = Double(reduced.width * reduced.height)
    sharpness =
      Sharpness(gray: reduced.gray, width: reduced.width, height: reduced.height).variance
    blur = Self.blurEffect(gray: reduced.gray, width: reduced.width, height: reduced.height)
    darkShare = Double(reduced.dark) / pixels
    brightShare = Double(reduced.bright) / pixels
    fingerprint = PictureFingerprint(gray: reduced.gray)
    let factor = BlurWidth.factor(width: width, height: height)
    blurWidth = BlurWidth(
      bands: BlurWidth.bands(columns: width / factor, rows: height / factor)
        .compactMap { brightness(factor, $0)?.gray },
      columns: width / factor, longestSide: max(width, height), factor: factor)
  }
}

extension PictureMeasure {
  /// Pixels of the mean by which a picture is blurred again.
  private static let reach = 15
  private static let before = reach / 2
  private static let after = reach / 2 + 1

  /// How blurred a picture is, almost whatever it shows: how little it changes when it is blurred once more, 0…1 (Crete,
  /// Dolmiere, Ladret and Nicolas 2007). About 0.2 for sharp pictures; of a picture with sharp edges that is smeared by
  /// 1/80 of its longest side about 0.4.
  ///
  /// A sharp picture loses most of the differences between neighboring pixels, a blurred one keeps them. Of the two
  /// directions the more blurred one counts, since motion blurs in one. In integers up to the last division, so that the
  /// result is the same on every machine.
  ///
  /// Cost: four reads of a byte per pixel and direction.
  ///
  /// - Parameter gray: brightness 0…255, row by row.
  /// - Returns: `nil` for a picture with a side of at most `reach` pixels, and for one of even brightness.
  static func blurEffect(gray: [UInt8], width: Int, height: Int) -> Double? {
    guard width > reach, height > reach, gray.count == width * height else { return nil }
    let directions = gray.withUnsafeBufferPointer { gray in
      [
        kept(gray, width, rows: 0..<height, columns: before..<width - after, step: 1),
        kept(gray, width, rows: before..<height - after, columns: 0..<width, step: width),
      ]
    }
    return directions.compactMap(\.self).max()
  }

  /// The part of the differences between neighbors that is left after the blur; `nil` without differences.
  ///
  /// The mean of `reach` pixels changes from one pixel to the next by the difference of the pixel that comes in and
  /// the one that goes out, so that the blurred picture itself is not needed.
  ///
  /// - Parameter step: the distance of two neighbors in `gray`.
  private static func kept(
    _ gray: UnsafeBufferPointer<UInt8>, _ width: Int, rows: Range<Int>, columns: Range<Int>,
    step: Int
  ) -> Double? {
    let (first, last) = (before &* step, after &* step)
    var (kept, all): (Int64, Int64) = (0, 0)
    for row in rows {
      // At most 255 per pixel, and far fewer than 2^24 columns (InputLimits).
      var (keptInRow, allInRow): (UInt32, UInt32) = (0, 0)
      let start = row &* width
      for column in columns {
        let at = start &+ column
        let own = difference(gray[at &+ step], gray[at])
        let wide = difference(gray[at &+ last], gray[at &- first])
        let scaled = UInt16(own) &* UInt16(reach)
        keptInRow &+= UInt32(min(scaled, UInt16(wide)))
        allInRow &+= UInt32(own)
      }
      kept &+= Int64(keptInRow)
      all &+= Int64(allInRow)
    }
    return all > 0 ? Double(kept) / Double(all &* Int64(reach)) : nil
  }

  private static func difference(_ a: UInt8, _ b: UInt8) -> UInt8 { max(a, b) &- min(a, b) }
}

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

extension [FrameQuality] {
  /// Frames on each side of a frame with which its sharpness is compared: a third of a second at 30 Hz, in which the
  /// scene hardly changes.
  private static var eachSide: Int { 5 }

  /// Fills in `relativeSharpness` and `hasDetailAround` of all frames with a picture. Cost: a short sort per frame.
  public mutating func compareSharpness() {
    for index in indices {
      guard let own = self[index].picture?.sharpness else { continue }
      let around =
        Swift.max(0, index - Self.eachSide)...Swift.min(count - 1, index + Self.eachSide)
      let compared = self[around].compactMap(\.picture)
      let median = Median.upper(compared.map(\.sharpness)) ?? own
      // Noise is what is compared in even pictures, which an encoder changes from picture to picture.
      let told = compared.count { if case .pixels = $0.blurWidth { true } else { false } }
      self[index].hasDetailAround = 2 * told >= compared.count
      self[index].relativeSharpness = median > 0 ? own / median : 1
    }
  }
}
