import CPlatform

/// Four convex quads as functions of the pixel, in the order in which `scanmill_draw_quads` reads them.
///
/// A pixel belongs to a convex quad if it is on the inner side of its four edges, whichever
/// diagonal splits it. 1/Z is piecewise linear: the plane through A, B and the diagonal's lower
/// end, plus a multiple of the diagonal's edge function on its far side.
struct RegularQuads {
  /// Edge functions, positive inside.
  let ab, bd, dc, ca: PixelFunction
  /// 1/Z on the near side of the diagonal.
  let plane: PixelFunction
  /// Edge function of the diagonal, positive on its far side.
  let beyond: PixelFunction
  let bend: Four

  /// Draws boxes of two by two pixels, by far the most frequent ones at usual resolutions.
  @inline(__always)
  func appendTwoByTwo(
    _ offsets: SIMD4<Int32>, _ clip: PictureClip, _ records: inout PixelRecords,
    origin: UnsafeMutablePointer<Float>
  ) {
    // One function after the other keeps fewer values in registers than pixel by pixel.
    var edges = TwoByTwo(ab)
    edges.unite(TwoByTwo(bd))
    edges.unite(TwoByTwo(dc))
    edges.unite(TwoByTwo(ca))
    let planes = TwoByTwo(plane)
    let bends = TwoByTwo(beyond)
    records.append(
      offsets, rowOffset: clip.rowOffset,
      upper: (
        value(planes.v00, bends.v00, bits(edges.v00)), value(planes.v10, bends.v10, bits(edges.v10))
      ),
      lower: (
        value(planes.v01, bends.v01, bits(edges.v01)), value(planes.v11, bends.v11, bits(edges.v11))
      ), origin: origin)
  }

  /// Draws boxes of three columns and two or three lines.
  @inline(__always)
  func appendThreeWide(
    _ offsets: SIMD4<Int32>, _ height: Int, _ clip: PictureClip, _ records: inout PixelRecords
  ) {
    var offsets = offsets
    var (a, b, c, d) = (ab.first, bd.first, dc.first, ca.first)
    var (w, e) = (plane.first, beyond.first)
    for _ in 0..<height {
      let edges0 = bits(a) | bits(b) | bits(c) | bits(d)
      let edges1 =
        bits(a + ab.right) | bits(b + bd.right) | bits(c + dc.right) | bits(d + ca.right)
      let edges2 =
        bits(a + 2 * ab.right) | bits(b + 2 * bd.right) | bits(c + 2 * dc.right)
        | bits(d + 2 * ca.right)
      records.append(
        offsets, left: value(w, e, edges0), right: value(w + plane.right, e + beyond.right, edges1))
      records.append(
        offsets &+ 2, left: value(w + 2 * plane.right, e + 2 * beyond.right, edges2),
        right: FourBits(repeating: 0))
      (a, b, c, d) = (a + ab.down, b + bd.down, c + dc.down, d + ca.down)
      (w, e) = (w + plane.down, e + beyond.down)
      offsets &+= clip.rowOffset
    }
  }

  /// Draws boxes of two columns and three lines.
  @inline(__always)
  func appendThreeHigh(
    _ offsets: SIMD4<Int32>, _ clip: PictureClip, _ records: inout PixelRecords
  ) {
    var offsets = offsets
    var (a, b, c, d) = (ab.first, bd.first, dc.first, ca.first)
    var (w, e) = (plane.first, beyond.first)
    for _ in 0..<3 {
      let edges0 = bits(a) | bits(b) | bits(c) | bits(d)
      let edges1 =
        bits(a + ab.right) | bits(b + bd.right) | bits(c + dc.right) | bits(d + ca.right)
      records.append(
        offsets, left: value(w, e, edges0), right: value(w + plane.right, e + beyond.right, edges1))
      (a, b, c, d) = (a + ab.down, b + bd.down, c + dc.down, d + ca.down)
      (w, e) = (w + plane.down, e + beyond.down)
      offsets &+= clip.rowOffset
    }
  }

  /// 1/Z at a pixel, or 0 where one of the edge functions that `edges` unites is negative.
  @inline(__always)
  private func value(_ plane: Four, _ beyond: Four, _ edges: FourBits) -> FourBits {
    bits(plane + bend * greater(beyond, Four(repeating: 0))) & ~signs(edges)
  }
}

/// The values of a linear function at the pixels (0, 0), (1, 0), (0, 1), (1, 1).
private struct TwoByTwo {
  var v00, v10, v01, v11: Four

  @inline(__always)
  init(_ function: PixelFunction) {
    v00 = function.first
    v10 = function.first + function.right
    v01 = function.first + function.down
    v11 = v10 + function.down
  }

  /// Combines signs: the result's sign bit is set if it is set in either.
  @inline(__always)
  mutating func unite(_ other: Self) {
    v00 = four(bits(v00) | bits(other.v00))
    v10 = four(bits(v10) | bits(other.v10))
    v01 = four(bits(v01) | bits(other.v01))
    v11 = four(bits(v11) | bits(other.v11))
  }
}

extension RegularQuads {
  /// Draws boxes of any size, quad by quad.
  ///
  /// Edge functions are rounded at this size. They are raised by 0.0005 pixel along the edge's
  /// sides, at most 0.0007 across it, which is more than the rounding error.
  @inline(never)
  func drawLarge(
    column: Four, line: Four, right: Four, below: Four, _ target: InverseDepthTarget
  ) {
    withUnsafeBytes(of: self) { quads in
      withUnsafeBytes(of: (column, line, right, below)) { boxes in
        guard let quads = quads.assumingMemoryBound(to: Float.self).baseAddress,
          let boxes = boxes.assumingMemoryBound(to: Float.self).baseAddress
        else { return }
        var rows = scanmill_target(
          origin: target.origin, stride: Int64(target.stride), width: Int64(target.width),
          first_row: Int64(target.rows.lowerBound), end_row: Int64(target.rows.upperBound))
        scanmill_draw_quads(InverseDepthTarget.hasWide, quads, boxes, &rows)
      }
    }
  }
}

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
