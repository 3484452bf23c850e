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
    let factor = (max(width, height) + Self.longestSide - 1) / Self.longestSide
    // A column sum of 16 bits holds 257 rows; larger pictures do not exist (InputLimits).
    guard factor <= 256 else { return nil }
    let (columns, rows) = (width / factor, height / factor)
    guard columns > 2, rows > 2 else { return nil }
    var gray = [UInt8](repeating: 0, count: columns * rows)
    var sums = [UInt16](repeating: 0, count: width * 3)
    let (dark, bright) = rgb.withUnsafeBufferPointer { rgb in
      gray.withUnsafeMutableBufferPointer { gray in
        sums.withUnsafeMutableBufferPointer { sums in
          Self.reduce(rgb, width, factor, into: gray, columns, rows, sums)
        }
      }
    }
    let pixels = Double(columns * rows)
    sharpness = Sharpness(gray: gray, width: columns, height: rows).variance
    blur = BlurEffect(gray: gray, width: columns, height: rows)?.value
    darkShare = Double(dark) / pixels
    brightShare = Double(bright) / pixels
    fingerprint = Self.fingerprint(of: gray)
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

  /// Averages blocks of `factor` × `factor` pixels to brightness, and counts the clipped pixels in
  /// the middle of each block.
  private static func reduce(
    _ rgb: UnsafeBufferPointer<UInt8>, _ width: Int, _ factor: Int,
    into gray: UnsafeMutableBufferPointer<UInt8>, _ columns: Int, _ rows: Int,
    _ sums: UnsafeMutableBufferPointer<UInt16>
  ) -> (dark: Int, bright: Int) {
    var (dark, bright) = (0, 0)
    let used = columns * factor * 3
    // Weights of BT.601 in 256ths, as the exports' gray pictures have them.
    let divisor = UInt32(256 * factor * factor)
    for row in 0..<rows {
      let top = row &* factor &* width &* 3
      for at in 0..<used { sums[at] = UInt16(truncatingIfNeeded: rgb[top &+ at]) }
      for line in 1..<max(1, factor) where line < factor {
        let start = top &+ line &* width &* 3
        for at in 0..<used { sums[at] &+= UInt16(truncatingIfNeeded: rgb[start &+ at]) }
      }
      let middle = top &+ (factor / 2) &* width &* 3
      for column in 0..<columns {
        var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
        var at = column &* factor &* 3
        for _ in 0..<factor {
          red &+= UInt32(truncatingIfNeeded: sums[at])
          green &+= UInt32(truncatingIfNeeded: sums[at &+ 1])
          blue &+= UInt32(truncatingIfNeeded: sums[at &+ 2])
          at &+= 3
        }
        let weighted = 77 &* red &+ 150 &* green &+ 29 &* blue
        gray[row &* columns &+ column] = UInt8(
          truncatingIfNeeded: (weighted &+ divisor / 2) / divisor)
        let pixel = middle &+ (column &* factor &+ factor / 2) &* 3
        let (r, g, b) = (rgb[pixel], rgb[pixel &+ 1], rgb[pixel &+ 2])
        if max(r, g, b) >= Self.brightLevel { bright &+= 1 }
        if max(r, g, b) <= Self.darkLevel { dark &+= 1 }
      }
    }
    return (dark, bright)
  }
}
