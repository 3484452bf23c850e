/// What one picture shows of its own quality: how sharp it is, how much of it is clipped, and by what it
/// is compared with others.
///
/// Pictures are reduced by a whole factor until their longest side is at most `longestSide` pixels,
/// so that sharpness means the same for every size of video, and noise of single pixels counts less.
public struct PictureMeasure: Hashable, Sendable {
  /// Variance of the Laplacian (0 1 0 / 1 -4 1 / 0 1 0) of the reduced brightness, in levels².
  public var sharpness: Double
  /// How little it changes when it is blurred once more, 0…1 (`BlurEffect` of the reduced brightness); `nil` where
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
    blur = BlurEffect(gray: reduced.gray, width: reduced.width, height: reduced.height)?.value
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
