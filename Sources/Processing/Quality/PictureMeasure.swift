/// What one picture shows of its own quality: how sharp it is, how much of it is clipped, and
/// whether it is the same picture as another.
///
/// Pictures are reduced by a whole factor until their longest side is at most `longestSide` pixels,
/// so that sharpness means the same for every size of video, and noise of single pixels counts less.
public struct PictureMeasure: Hashable, Sendable {
  /// Variance of the Laplacian (0 1 0 / 1 -4 1 / 0 1 0) of the reduced brightness, in levels².
  public var sharpness: Double
  /// How blurred it is, 0…1 (`BlurEffect` of the reduced brightness); `nil` where nothing can be seen of it.
  public var blur: Double?
  /// Share of sampled pixels whose three channels are all at most `darkLevel`, 0…1.
  public var darkShare: Double
  /// Share of sampled pixels with a channel of at least `brightLevel`, 0…1.
  public var brightShare: Double
  /// The same for two pictures only if their reduced brightness is the same.
  public var fingerprint: UInt64

  /// 1,296 to 1,920 columns become 432 to 640: details of a pixel are lost, blur by motion is not.
  public static let longestSide = 640
  /// Video black is 0 after conversion; noise of a black picture stays below.
  public static let darkLevel: UInt8 = 5
  public static let brightLevel: UInt8 = 250

  public init(
    sharpness: Double, blur: Double? = nil, darkShare: Double, brightShare: Double,
    fingerprint: UInt64
  ) {
    self.sharpness = sharpness
    self.blur = blur
    self.darkShare = darkShare
    self.brightShare = brightShare
    self.fingerprint = fingerprint
  }

  /// Measures a picture of 8-bit RGB, row by row; `nil` if the bytes are not those of the size, or a
  /// side is below 3 pixels. Cost: one pass over the bytes.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard width > 2, height > 2, rgb.count == width * height * 3 else { return nil }
    guard
      let reduced = BlockReduction.brightness(
        rgb: rgb, width: width, height: height,
        by: BlockReduction.factor(width: width, height: height, longestSide: Self.longestSide),
        darkLevel: Self.darkLevel, brightLevel: Self.brightLevel),
      reduced.width > 2, reduced.height > 2
    else { return nil }
    let pixels = Double(reduced.width * reduced.height)
    sharpness =
      Sharpness(gray: reduced.gray, width: reduced.width, height: reduced.height).variance
    blur = BlurEffect(gray: reduced.gray, width: reduced.width, height: reduced.height)?.value
    darkShare = Double(reduced.dark) / pixels
    brightShare = Double(reduced.bright) / pixels
    fingerprint = Self.fingerprint(of: reduced.gray)
  }

  /// FNV-1a over words of eight bytes in place of bytes, which takes an eighth of the steps; the high half
  /// is mixed into the low one, which a product does not do. The rest is taken byte by byte.
  private static func fingerprint(of gray: [UInt8]) -> UInt64 {
    gray.withUnsafeBytes { bytes in
      var hash = hashStart
      let words = bytes.count / 8
      for word in 0..<words {
        let value = UInt64(
          littleEndian: bytes.loadUnaligned(fromByteOffset: 8 &* word, as: UInt64.self))
        hash = (hash ^ value) &* hashFactor
        hash ^= hash >> 32
      }
      for byte in bytes[(8 * words)...] { hash = (hash ^ UInt64(byte)) &* hashFactor }
      return hash
    }
  }

  /// FNV-1a, 64 bits (Fowler, Noll, Vo).
  private static let hashStart: UInt64 = 0xcbf2_9ce4_8422_2325
  private static let hashFactor: UInt64 = 0x100_0000_01b3
}
