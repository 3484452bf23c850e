import CRendering
import Core

/// All textures of a scene in one array: 512×512 texels each, repeating, followed by every halved
/// size. A texel is stored with its neighbors to the right, below, and below on the right.
///
/// 11 MB, made from the seed in some tens of milliseconds.
struct TextureSet: Sendable {
  static let side = 1 << Int(SCANMILL_RENDER_SIDE_BITS)
  private static let texelsPerPattern = Int(SCANMILL_RENDER_TEXELS)

  /// The texel in the lowest byte, then those to the right, below, and below on the right.
  let texels: [UInt32]

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
