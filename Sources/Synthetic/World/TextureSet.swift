import CRendering
import Core
import Synchronization

/// All textures of a scene in one array: 512×512 texels each, repeating, followed by every halved
/// size. A texel is stored with its neighbors to the right, below, and below on the right.
///
/// 11 MB, made from the seed in some tens of milliseconds.
struct TextureSet {
  static let side = 1 << Int(SCANMILL_RENDER_SIDE_BITS)
  private static let texelsPerPattern = Int(SCANMILL_RENDER_TEXELS)

  /// The texel in the lowest byte, then those to the right, below, and below on the right.
  let texels: [UInt32]

  /// The sets that were painted last, 33 MB at most. Captures of one process mostly have the same seed, and painting takes
  /// longer than a short capture.
  private static let recent = Mutex<[(seed: UInt64, used: Set<TexturePattern>, texels: [UInt32])]>(
    [])

  /// - Parameter used: the patterns that the scene has; others stay black.
  init(seed: UInt64, _ used: Set<TexturePattern>) {
    if let painted = Self.recent.withLock({ $0.first { $0.seed == seed && $0.used == used } }) {
      texels = painted.texels
      return
    }
    var texels = [UInt32](
      repeating: 0, count: TexturePattern.allCases.count * Self.texelsPerPattern)
    withConcurrentRowBands(
      of: &texels, rows: TexturePattern.allCases.count, rowLength: Self.texelsPerPattern,
      bands: TexturePattern.allCases.count
    ) { patterns, texels in
      for (index, pattern) in TexturePattern.allCases[patterns].enumerated()
      where used.contains(pattern) {
        Self.paint(seed: seed, pattern, into: &texels, at: index * Self.texelsPerPattern)
      }
    }
    self.texels = texels
    Self.recent.withLock { $0 = $0.suffix(2) + [(seed, used, self.texels)] }
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

/// Paints one repeating texture: a pattern with fine detail.
struct TexturePainter {
  private let pattern: TexturePattern
  private let side = TextureSet.side
  private var random: SeededRandom
  private let key: UInt64

  init(seed: UInt64, _ pattern: TexturePattern) {
    self.pattern = pattern
    random = SeededRandom(seed: seed, "texture \(pattern)")
    key = random.next()
  }

  /// 512×512 gray values.
  func paint() -> [UInt8] {
    let coarse = cloud(cell: 64)
    let middle = cloud(cell: 16)
    let fine = cloud(cell: 4)
    let finest = cloud(cell: 2)
    var texels = [UInt8](repeating: 0, count: side * side)
    for row in 0..<side {
      for column in 0..<side {
        let index = row * side + column
        let detail =
          0.35 * coarse[index] + 0.25 * middle[index] + 0.25 * fine[index] + 0.25 * finest[index]
        let value = shape(column, row, detail: detail)
        texels[index] = UInt8(max(0, min(1, value)) * 255 + 0.5)
      }
    }
    return texels
  }

  /// The pattern at a texel, about 0…1; `detail` is noise of mean 0 and about ±0.5.
  private func shape(_ column: Int, _ row: Int, detail: Float) -> Float {
    switch pattern {
    case .plaster: return 0.75 + 0.35 * detail
    case .carpet: return 0.5 + 0.9 * detail
    case .planks:
      let plank = row / 64
      let tone = number(plank, 0) * 0.4
      let grain = number(row, plank * 7 + 1) * 0.25
      let shifted = (column + plank * 191) % side
      let isJoint = row % 64 < 2 || shifted < 2
      return isJoint ? 0.05 : 0.35 + tone + grain + 0.3 * detail
    case .bricks:
      let course = row / 32
      let shifted = (column + (course % 2) * 32) % side
      let isMortar = row % 32 < 3 || shifted % 64 < 3
      let tone = number(course, shifted / 64) * 0.35
      return isMortar ? 0.9 + 0.2 * detail : 0.2 + tone + 0.4 * detail
    case .tiles:
      let isJoint = row % 128 < 3 || column % 128 < 3
      let tone = number(row / 128, column / 128) * 0.25
      return isJoint ? 0.1 : 0.7 + tone + 0.15 * detail
    case .stripes:
      let stripe = column / 32
      return (stripe % 2 == 0 ? 0.75 : 0.45) + number(stripe, 5) * 0.15 + 0.25 * detail
    case .poster:
      let block = number(column / 32, row / 32)
      let inner = number(column / 8, row / 8)
      return 0.15 + 0.55 * block + 0.3 * inner + 0.2 * detail
    case .books:
      let book = column / 16
      let height = 360 + Int(number(book, 1) * 130)
      guard row % side < height, column % 16 > 0 else { return 0.02 }
      let title = row % 128 > 40 && row % 128 < 88 && number(row / 4, book) > 0.5
      return 0.15 + number(book, 2) * 0.6 + (title ? 0.3 : 0) + 0.2 * detail
    }
  }

  /// 0 ≤ value < 1; always the same for the same position.
  private func number(_ a: Int, _ b: Int) -> Float {
    var random = SeededRandom(key: key, frame: a, row: b)
    return Float(random.next() >> 40) * 0x1p-24
  }

  /// Smooth noise, −0.5…0.5, with a random value every `cell` texels.
  private func cloud(cell: Int) -> [Float] {
    let knots = side / cell
    var random = SeededRandom(key: key, frame: cell, row: -1)
    let values = (0..<(knots * knots)).map { _ in Float(random.unit() - 0.5) }
    // Along the rows of these values first, then between two of them.
    var across = [Float](repeating: 0, count: knots * side)
    for index in across.indices {
      let (row, column) = (index / side * knots, index % side)
      let left = values[row + column / cell]
      let right = values[row + (column / cell + 1) % knots]
      across[index] = left + (right - left) * (Float(column % cell) / Float(cell))
    }
    var cloud = [Float](repeating: 0, count: side * side)
    for row in 0..<side {
      let b = Float(row % cell) / Float(cell)
      let (upper, lower) = (row / cell * side, (row / cell + 1) % knots * side)
      for column in 0..<side {
        let above = across[upper + column]
        cloud[row * side + column] = above + (across[lower + column] - above) * b
      }
    }
    return cloud
  }
}
