/// All textures of a scene in one array of gray values: 512×512 texels each, repeating, followed by
/// every halved size.
///
/// 2.8 MB, made from the seed in some tens of milliseconds.
struct TextureSet: Sendable {
  static let side = 512
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

  /// The texture's value, 0…1, at a position in texels of the full size. Interpolated between four
  /// texels of the size at which, after `level` halvings, a texel is about as large as a pixel.
  @inline(__always)
  func sample(_ pattern: TexturePattern, u: Float, v: Float, level: Int) -> Float {
    let level = min(max(level, 0), Self.levels - 1)
    // 2^-level, set in the exponent bits.
    let scale = Float(bitPattern: UInt32(truncatingIfNeeded: 127 &- level) &<< 23)
    let x = u * scale
    let y = v * scale
    let left = Self.floor(x)
    let top = Self.floor(y)
    let a = x - Float(left)
    let b = y - Float(top)
    let side = Self.side &>> level
    let mask = side &- 1
    let column = left & mask
    let row = top & mask
    let nextColumn = (column &+ 1) & mask
    let nextRow = (row &+ 1) & mask
    // 512² + 256² + … before this size: (4·512² − 4·side²) / 3.
    let start =
      pattern.rawValue &* Self.texelsPerPattern
      &+ (4 &* Self.side &* Self.side &- 4 &* side &* side) / 3
    let span = texels.span
    let upper = start &+ row &* side
    let lower = start &+ nextRow &* side
    // In range: rows and columns are masked to the size of the level.
    let p = Float(span[unchecked: upper &+ column])
    let q = Float(span[unchecked: upper &+ nextColumn])
    let r = Float(span[unchecked: lower &+ column])
    let s = Float(span[unchecked: lower &+ nextColumn])
    let above = p + (q - p) * a
    let below = r + (s - r) * a
    return (above + (below - above) * b) * (1 / 255)
  }

  /// The largest integer not above `value`, without a library call.
  @inline(__always)
  private static func floor(_ value: Float) -> Int {
    let whole = Int(value)
    return Float(whole) > value ? whole &- 1 : whole
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
