import Parallel

/// All textures of a scene in one array: 512×512 texels each, repeating, followed by every halved
/// size. A texel is stored with its neighbors to the right, below, and below on the right.
///
/// 11 MB, made from the seed in some tens of milliseconds.
struct TextureSet: Sendable {
  static let side = 512
  /// 4 · 512² = 2²⁰.
  private static let sizeBits: Int32 = 20
  /// 512, 256, … 1.
  static let levels = 10
  private static let texelsPerPattern = (4 * side * side - 1) / 3

  /// The texel in the lowest byte, then those to the right, below, and below on the right.
  private let texels: [UInt32]

  init(seed: UInt64) {
    var texels = [UInt32](
      repeating: 0, count: TexturePattern.allCases.count * Self.texelsPerPattern)
    withConcurrentRowBands(
      of: &texels, rows: TexturePattern.allCases.count, rowLength: Self.texelsPerPattern,
      bands: TexturePattern.allCases.count
    ) { patterns, texels in
      for (index, pattern) in TexturePattern.allCases[patterns].enumerated() {
        Self.paint(seed: seed, pattern, into: &texels, at: index * Self.texelsPerPattern)
      }
    }
    self.texels = texels
  }

  /// Paints one pattern in all sizes.
  private static func paint(
    seed: UInt64, _ pattern: TexturePattern, into texels: inout MutableSpan<UInt32>,
    at start: Int
  ) {
    var level = TexturePainter(seed: seed, pattern).paint()
    var side = Self.side
    var place = start
    while true {
      for row in 0..<side {
        let here = row * side
        let below = (row + 1) % side * side
        for column in 0..<side {
          let next = (column + 1) & (side - 1)
          texels[place + here + column] =
            UInt32(level[here + column]) | UInt32(level[here + next]) << 8
            | UInt32(level[below + column]) << 16 | UInt32(level[below + next]) << 24
        }
      }
      place += side * side
      guard side > 1 else { return }
      level = halve(level, side: side)
      side /= 2
    }
  }

  /// Where four positions lie between texels.
  struct Samples: BitwiseCopyable {
    /// Indices of the texels above on the left.
    var index: SIMD4<UInt32> = .zero
    /// How far to the right of it and below it, 0…1.
    var right: Lanes = .zero
    var down: Lanes = .zero
  }

  /// Finds four positions in texels of the full size, which are below 2²¹ in size. Each lies between
  /// four texels of the size at which, after `level` halvings, a texel is about as large as a pixel.
  @inline(__always)
  func samples(_ pattern: TexturePattern, u: Lanes, v: Lanes, level: SIMD4<Int32>) -> Samples {
    var level = level.replacing(with: 0, where: level .< 0)
    level.replace(with: Int32(Self.levels - 1), where: level .> Int32(Self.levels - 1))
    // 2^-level, the size and four times its square, set in the exponent bits.
    let exponent = SIMD4<Int32>(repeating: 127) &- level
    let scale = unsafeBitCast(exponent &<< 23, to: Lanes.self)
    let side = unsafeBitCast((exponent &+ Self.sizeBits / 2 &- 1) &<< 23, to: Lanes.self)
    let quarters = unsafeBitCast(
      (exponent &+ Self.sizeBits &- level) &<< 23, to: Lanes.self)
    let mask = (side - 1).smallIntegers
    let x = u * scale
    let y = v * scale
    let left = x.floor
    let top = y.floor
    let column = left.lowBits & mask
    let row = top.lowBits & mask
    // 512² + 256² + … before this size are every second bit above those of its own square.
    let start =
      SIMD4<UInt32>(repeating: UInt32(Self.texelsPerPattern)) & ~(quarters - 1).smallIntegers
    let index =
      start &+ UInt32(truncatingIfNeeded: pattern.rawValue &* Self.texelsPerPattern)
      &+ (Lanes(small: row) * side).smallIntegers &+ column
    return Samples(index: index, right: x - left, down: y - top)
  }

  /// The texels of four positions, each with its neighbors.
  @inline(__always)
  func texels(at index: SIMD4<UInt32>) -> SIMD4<UInt32> {
    // In range: rows and columns were masked to the size of the level.
    let span = texels.span
    return SIMD4(
      span[unchecked: Int(index.x)], span[unchecked: Int(index.y)],
      span[unchecked: Int(index.z)], span[unchecked: Int(index.w)])
  }

  /// The texture's values, 0…1, between four texels each.
  @inline(__always)
  static func values(_ texels: SIMD4<UInt32>, right: Lanes, down: Lanes) -> Lanes {
    let byte = SIMD4<UInt32>(repeating: 0xff)
    let p = Lanes(small: texels & byte)
    let q = Lanes(small: texels &>> 8 & byte)
    let r = Lanes(small: texels &>> 16 & byte)
    let s = Lanes(small: texels &>> 24)
    let above = p + (q - p) * right
    let below = r + (s - r) * right
    return (above + (below - above) * down) * (1 / 255)
  }

  private static func halve(_ texels: [UInt8], side: Int) -> [UInt8] {
    var half: [UInt8] = []
    half.reserveCapacity(side * side / 4)
    for row in stride(from: 0, to: side, by: 2) {
      for column in stride(from: 0, to: side, by: 2) {
        let first = row * side + column
        let sum =
          Int(texels[first]) + Int(texels[first + 1]) + Int(texels[first + side])
          + Int(texels[first + side + 1])
        half.append(UInt8((sum + 2) / 4))
      }
    }
    return half
  }
}
