/// All textures of a scene in one array of gray values: 512×512 texels each, repeating, followed by
/// every halved size.
///
/// 2.8 MB, made from the seed in some tens of milliseconds.
struct TextureSet: Sendable {
  static let side = 512
  /// 2⁹ = 512.
  private static let sideBits: Int32 = 9
  /// 512, 256, … 1.
  static let levels = 10
  private static let texelsPerPattern = (4 * side * side - 1) / 3

  private let texels: [UInt8]

  init(seed: UInt64) {
    var texels: [UInt8] = []
    texels.reserveCapacity(TexturePattern.allCases.count * Self.texelsPerPattern)
    for pattern in TexturePattern.allCases {
      var level = TexturePainter(seed: seed, pattern).paint()
      var side = Self.side
      texels += level
      while side > 1 {
        level = Self.halve(level, side: side)
        side /= 2
        texels += level
      }
    }
    self.texels = texels
  }

  /// The texture's values, 0…1, at four positions in texels of the full size, which are below 2²¹ in
  /// size. Each is interpolated between four texels of the size at which, after `level` halvings, a
  /// texel is about as large as a pixel. Cost: about 3 ns for each position.
  @inline(__always)
  func sample(_ pattern: TexturePattern, u: Lanes, v: Lanes, level: SIMD4<Int32>) -> Lanes {
    var level = level.replacing(with: 0, where: level .< 0)
    level.replace(with: Int32(Self.levels - 1), where: level .> Int32(Self.levels - 1))
    // 2^-level and the size, set in the exponent bits.
    let exponent = SIMD4<Int32>(repeating: 127) &- level
    let scale = unsafeBitCast(exponent &<< 23, to: Lanes.self)
    let side = unsafeBitCast((exponent &+ Self.sideBits) &<< 23, to: Lanes.self)
    let mask = (side - 1).smallIntegers
    let x = u * scale
    let y = v * scale
    let left = x.floor
    let top = y.floor
    let a = x - left
    let b = y - top
    let one = SIMD4<UInt32>(repeating: 1)
    let column = left.lowBits & mask
    let row = top.lowBits & mask
    let nextColumn = (column &+ one) & mask
    let nextRow = (row &+ one) & mask
    // 512² + 256² + … before this size: (4·512² − 4·side²) / 3, all integers below 2²⁴ and exact.
    let total = Float(4 * Self.side * Self.side)
    let start =
      (total - 4 * side * side) / 3 + Float(pattern.rawValue &* Self.texelsPerPattern)
    let upper = (start + Lanes(small: row) * side).smallIntegers
    let lower = (start + Lanes(small: nextRow) * side).smallIntegers
    // In range: rows and columns are masked to the size of the level.
    let p = texel(upper &+ column)
    let q = texel(upper &+ nextColumn)
    let r = texel(lower &+ column)
    let s = texel(lower &+ nextColumn)
    let above = p + (q - p) * a
    let below = r + (s - r) * a
    return (above + (below - above) * b) * (1 / 255)
  }

  @inline(__always)
  private func texel(_ index: SIMD4<UInt32>) -> Lanes {
    let span = texels.span
    return Lanes(
      small: SIMD4(
        UInt32(span[unchecked: Int(index.x)]), UInt32(span[unchecked: Int(index.y)]),
        UInt32(span[unchecked: Int(index.z)]), UInt32(span[unchecked: Int(index.w)])))
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
