import Core
import Testing

/// Contents that are hard on an encoder, of any size, the same in every run. They are made here because tests themselves are
/// compiled without optimization, in which a loop over pixels takes twenty times as long.
public enum PNGContent: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case zero, constant, noise, checkerboard, ramp, smallNoise, rare, lines

  public var testDescription: String { rawValue }

  /// `count` values of 16 bits in rows of `rowLength`.
  public func values(count: Int, rowLength: Int) -> [UInt16] {
    var random = SeededGenerator(seed: UInt64(count) &* 31 &+ UInt64(rowLength))
    return (0..<count).map { index in
      let x = index % rowLength
      let y = index / rowLength
      switch self {
      case .zero: return 0
      case .constant: return 0x1234
      case .noise: return UInt16(truncatingIfNeeded: random.next())
      case .checkerboard: return (x + y).isMultiple(of: 2) ? 0 : 0xffff
      case .ramp: return UInt16(truncatingIfNeeded: x &* 3 &+ y &* 5)
      case .smallNoise: return UInt16(truncatingIfNeeded: 1000 + x / 4) &+ UInt16(random.next() % 7)
      case .rare: return random.next() % 997 == 0 ? UInt16(truncatingIfNeeded: random.next()) : 7
      case .lines: return y % 8 == 0 ? UInt16(truncatingIfNeeded: random.next()) : 0
      }
    }
  }

  /// The low bytes of the values.
  public func bytes(count: Int, rowLength: Int) -> [UInt8] {
    values(count: count, rowLength: rowLength).map { UInt8($0 & 255) }
  }
}

/// Pictures as the usual conversion of video makes them: noisy luma, chroma shared by two by two pixels.
public enum VideoContent: String, CaseIterable, CustomTestStringConvertible, Sendable {
  /// Nothing else; a band of noise in all channels, which only fits stored; clipped pixels, whose
  /// differences are not equal; and noise that is the same for three pixels in a row, as after motion.
  case plain, noiseBand, clipped, streaked

  public var testDescription: String { rawValue }

  public func picture(width: Int, height: Int) -> ColorImage {
    var random = SeededGenerator(seed: UInt64(width &* 4099 &+ height))
    var rgb: [UInt8] = []
    rgb.reserveCapacity(width * height * 3)
    for y in 0..<height {
      let isNoise = self == .noiseBand && (height / 3..<2 * height / 3).contains(y)
      var streak = random.next()
      for x in 0..<width {
        var noise = random.next()
        if x % 3 == 0 { streak = noise }
        if self == .streaked { noise = streak &* 31 }
        if isNoise {
          for shift in [0, 8, 16] { rgb.append(UInt8(truncatingIfNeeded: noise >> UInt64(shift))) }
          continue
        }
        let base = self == .clipped ? 20 + (x / 7 + y / 5) % 240 : 100 + (x + y) / 64 % 50
        let luma = base + Int(noise % 7) + Int((noise >> 8) % 5)
        let chroma = [x / 40 % 9, y / 34 % 7, (x / 2 + y / 2) / 30 % 11]
        for channel in 0..<3 { rgb.append(UInt8(clamping: luma + 3 * chroma[channel])) }
      }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }
}

/// Depth as alignment makes it: each value of a noisy sensor stands for several pixels, in planes between them, with holes;
/// a few values far off, for which codes are long.
public struct ZoomedDepth: Sendable {
  public let zoom: Int
  public let noise: Int

  public init(zoom: Int, noise: Int) { (self.zoom, self.noise) = (zoom, noise) }

  public func picture(width: Int, height: Int) -> DepthImage {
    var random = SeededGenerator(seed: UInt64(width))
    var image = DepthImage(width: width, height: height)
    let columns = width / zoom + 2
    var above = [Int](repeating: 1500, count: columns)
    var below = above
    for y in 0..<height {
      if y % zoom == 0 {
        above = below
        below = (0..<columns).map {
          1500 + 3 * $0 + y + (noise > 0 ? Int.random(in: -noise...noise, using: &random) : 0)
        }
      }
      for x in 0..<width {
        let (i, part) = (x / zoom, x % zoom)
        let upper = above[i] * (zoom - part) + above[i + 1] * part
        let lower = below[i] * (zoom - part) + below[i + 1] * part
        let value = (upper * (zoom - y % zoom) + lower * (y % zoom)) / (zoom * zoom)
        let isHole = (x / 40 + y / 30) % 9 == 0
        let isFarOff = UInt16.random(in: 0..<2000, using: &random) == 0
        image.millimeters[y * width + x] =
          isHole ? 0 : isFarOff ? .random(in: 0...65_535, using: &random) : UInt16(value)
      }
    }
    return image
  }
}
