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

/// How two aligned pictures agree, as shares.
public struct PictureComparison {
  /// Share of the pixels with a value in both.
  public let equal: Double
  public let within1mm: Double
  public let within5mm: Double
  public let within10mm: Double
  /// Share of all pixels.
  public let firstOnly: Double
  public let secondOnly: Double
  /// Pixels with a value in only one, and pixels with values more than 1 mm apart.
  public let differentCoverage: Int
  public let differentDepth: Int

  public init(_ first: DepthImage, _ second: DepthImage) {
    var counts = [0, 0, 0, 0]
    var both = 0
    var only = [0, 0]
    for (a, b) in zip(first.millimeters, second.millimeters) {
      guard a > 0, b > 0 else {
        if a > 0 { only[0] += 1 } else if b > 0 { only[1] += 1 }
        continue
      }
      both += 1
      let difference = abs(Int(a) - Int(b))
      for (index, limit) in [0, 1, 5, 10].enumerated() where difference <= limit {
        counts[index] += 1
      }
    }
    let pixels = Double(max(first.millimeters.count, 1))
    equal = Self.share(counts[0], of: both)
    within1mm = Self.share(counts[1], of: both)
    within5mm = Self.share(counts[2], of: both)
    within10mm = Self.share(counts[3], of: both)
    firstOnly = Double(only[0]) / pixels
    secondOnly = Double(only[1]) / pixels
    differentCoverage = only[0] + only[1]
    differentDepth = both - counts[1]
  }

  private static func share(_ count: Int, of all: Int) -> Double {
    all == 0 ? 1 : Double(count) / Double(all)
  }
}

/// How an aligned picture agrees with the truth, class by class of the fixtures' masks.
public struct TruthComparison {
  // Class 1, interior.
  public private(set) var within1mm = 0.0
  public private(set) var within5mm = 0.0
  public private(set) var coverage = 0.0
  public private(set) var through = 0.0
  public private(set) var inFront = 0.0
  /// Class 3: wrong values among the values.
  public private(set) var wrongAtEdges = 0.0
  /// Class 4: seen by the color camera only.
  public private(set) var leak = 0.0
  /// Class 5: outside the depth camera's view.
  public private(set) var outside = 0.0

  public init(_ picture: DepthImage, truth: DepthImage, mask: [UInt8], step: (Double) -> Double) {
    var pixels = [Int](repeating: 0, count: 256)
    var values = [Int](repeating: 0, count: 256)
    var (near1, near5, far, close, wrong) = (0, 0, 0, 0, 0)
    for (index, kind) in mask.enumerated() {
      pixels[Int(kind)] += 1
      guard picture.millimeters[index] > 0 else { continue }
      values[Int(kind)] += 1
      let expected = Double(truth.millimeters[index])
      let error = Double(picture.millimeters[index]) - expected
      let gross = max(30, 0.03 * expected)
      if kind == 1 {
        let q = step(expected)
        if abs(error) <= 1 + q / 2 { near1 += 1 }
        if abs(error) <= 5 + q / 2 { near5 += 1 }
        if error > gross + q { far += 1 }
        if -error > gross { close += 1 }
      } else if kind == 3, abs(error) > gross {
        wrong += 1
      }
    }
    func share(_ count: Int, of all: Int) -> Double { all == 0 ? 0 : Double(count) / Double(all) }
    within1mm = share(near1, of: pixels[1])
    within5mm = share(near5, of: pixels[1])
    coverage = share(values[1], of: pixels[1])
    through = share(far, of: pixels[1])
    inFront = share(close, of: pixels[1])
    wrongAtEdges = share(wrong, of: values[3])
    leak = share(values[4], of: pixels[4])
    outside = share(values[5], of: pixels[5])
  }
}

extension Array where Element: FixedWidthInteger {
  /// The bytes of all values as they lie in memory: on every processor that the program runs on, the lowest of each first.
  public var littleEndianBytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension Digest {
  /// Of little-endian pixels.
  public init(ofPixels pixels: [some FixedWidthInteger]) {
    self.init(of: pixels.littleEndianBytes)
  }
}
