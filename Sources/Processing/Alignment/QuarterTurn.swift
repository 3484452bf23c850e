/// Turns a picture of `width` columns clockwise by `quarterTurns` (1, 2 or 3) × 90° into `target`,
/// which has as many elements. Works in tiles that fit the nearest cache.
func turnClockwise(
  _ source: [UInt16], width: Int, quarterTurns: Int, into target: inout [UInt16]
) {
  guard width > 0 else { return }
  let height = source.count / width
  let tile = 32
  source.withUnsafeBufferPointer { source in
    target.withUnsafeMutableBufferPointer { target in
      precondition(source.count == width * height && target.count == source.count)
      // (x, y) moves to start + x · column + y · row.
      let (start, column, row) =
        switch quarterTurns {
        case 1: (height - 1, height, -1)
        case 2: (width * height - 1, -1, -width)
        default: ((width - 1) * height, -height, 1)
        }
      for top in stride(from: 0, to: height, by: tile) {
        for left in stride(from: 0, to: width, by: tile) {
          for y in top..<min(top + tile, height) {
            for x in left..<min(left + tile, width) {
              target[start &+ x &* column &+ y &* row] = source[y &* width &+ x]
            }
          }
        }
      }
    }
  }
}
