/// A triangle of any size on the output grid, drawn four pixels of a row at a time.
///
/// Edge functions are not exact at this size. Pixels up to 0.0007 pixel outside count as inside,
/// which is more than the rounding error, so that no gap appears between neighbors.
struct ScreenTriangle {
  /// Tolerance in pixels, outward, along the sum of an edge's sides; across the edge it is at most
  /// √2 times that.
  private static let tolerance = 0.0005
  /// Largest distance in pixels between the box's first pixel and the corners for which rounding in
  /// single precision stays below the tolerance.
  private static let largestSingle: Float = 1024

  private let columns: ClosedRange<Int>
  private let lines: ClosedRange<Int>
  private let edges: (LinearFunction, LinearFunction, LinearFunction)
  private let inverseDepth: LinearFunction
  /// 1/Z of the farthest and of the nearest corner. Results are clamped to this range, which the
  /// tolerance and the steep plane of a sliver could exceed.
  private let farthest: Double
  private let nearest: Double
  private let isHuge: Bool

  /// `nil` for a triangle that is back-facing, has no area, or lies outside the picture.
  init?(_ a: Corner, _ b: Corner, _ c: Corner, width: Int) {
    // Clipped to the picture, never to a band: every band computes the same numbers.
    let left = max(min(a.x, b.x, c.x).rounded(.up), 0)
    let right = min(max(a.x, b.x, c.x).rounded(.down), Float(width - 1))
    let top = max(min(a.y, b.y, c.y).rounded(.up), 0)
    let bottom = max(a.y, b.y, c.y).rounded(.down)
    guard left <= right, top <= bottom else { return nil }
    columns = Int(left)...Int(right)
    lines = Int(top)...Int(bottom)
    let extent = max(
      max(abs(a.x - left), abs(b.x - left), abs(c.x - left)),
      max(abs(a.y - top), abs(b.y - top), abs(c.y - top)))
    isHuge = extent > Self.largestSingle

    let (ax, ay) = (Double(a.x - left), Double(a.y - top))
    let (abx, aby) = (Double(b.x) - Double(a.x), Double(b.y) - Double(a.y))
    let (acx, acy) = (Double(c.x) - Double(a.x), Double(c.y) - Double(a.y))
    let area = abx * acy - aby * acx
    guard area > 0 else { return nil }
    edges = (
      Self.edge(ax, ay, abx, aby), Self.edge(ax + abx, ay + aby, acx - abx, acy - aby),
      Self.edge(ax + acx, ay + acy, -acx, -acy)
    )
    let (riseB, riseC) = (Double(b.w) - Double(a.w), Double(c.w) - Double(a.w))
    let right1 = (riseB * acy - riseC * aby) / area
    let down1 = (riseC * abx - riseB * acx) / area
    inverseDepth = LinearFunction(
      first: Double(a.w) - right1 * ax - down1 * ay, right: right1, down: down1)
    farthest = Double(min(a.w, b.w, c.w))
    nearest = Double(max(a.w, b.w, c.w))
  }

  /// The edge function, raised by the tolerance, of the edge that leaves (x, y) along (dx, dy).
  private static func edge(_ x: Double, _ y: Double, _ dx: Double, _ dy: Double) -> LinearFunction {
    LinearFunction(
      first: dy * x - dx * y + tolerance * (abs(dx) + abs(dy)), right: -dy, down: dx)
  }

  func draw(into target: InverseDepthTarget) {
    let first = max(lines.lowerBound, target.rows.lowerBound)
    let end = min(lines.upperBound, target.rows.upperBound - 1)
    var y = first
    while y <= end {
      let row = target.row(y) + columns.lowerBound
      if isHuge {
        drawRowExactly(y &- lines.lowerBound, row)
      } else {
        drawRow(y &- lines.lowerBound, row)
      }
      y &+= 1
    }
  }

  /// Draws one row in single precision. Up to three pixels of padding right of the picture may be
  /// written.
  @inline(__always)
  private func drawRow(_ line: Int, _ row: UnsafeMutablePointer<Float>) {
    let e0 = edges.0.lanes(line)
    let e1 = edges.1.lanes(line)
    let e2 = edges.2.lanes(line)
    let w = inverseDepth.lanes(line)
    let low = Four(repeating: Float(farthest))
    let high = Four(repeating: Float(nearest))
    var x = 0
    while x < columns.count {
      let at = Four(repeating: Float(x))
      let signed =
        bits(e0.start + e0.step * at) | bits(e1.start + e1.step * at)
        | bits(e2.start + e2.step * at)
      let value = lesser(greater(w.start + w.step * at, low), high)
      row.storeFour(greater(keep(value, where: ~signs(signed)), row.four(x)), x)
      x &+= 4
    }
  }

  /// Draws one row in double precision, for triangles much larger than the picture.
  private func drawRowExactly(_ line: Int, _ row: UnsafeMutablePointer<Float>) {
    for x in 0..<columns.count {
      let (sx, sy) = (Double(x), Double(line))
      guard edges.0(sx, sy) >= 0, edges.1(sx, sy) >= 0, edges.2(sx, sy) >= 0 else { continue }
      let value = Float(min(max(inverseDepth(sx, sy), farthest), nearest))
      if value > row[x] { row[x] = value }
    }
  }
}

/// A linear function of the pixel, counted from a box's first pixel.
private struct LinearFunction {
  let first, right, down: Double

  func callAsFunction(_ x: Double, _ y: Double) -> Double { first + right * x + down * y }

  /// The first four pixels of a row, and what one pixel to the right adds.
  @inline(__always)
  func lanes(_ line: Int) -> (start: Four, step: Four) {
    let start = Float(first) + Float(down) * Float(line)
    let step = Four(repeating: Float(right))
    return (Four(repeating: start) + step * Four(0, 1, 2, 3), step)
  }
}
