extension MeshKernel {
  /// Draws four quads of any kind: with missing corners, discontinuities, back faces, rotated,
  /// concave or large. The two triangles of each quad are tested and drawn separately.
  @inline(never)
  func drawGeneral(
    _ rows: VertexRows, at i: Int, _ clip: PictureClip, _ target: InverseDepthTarget,
    _ records: inout PixelRecords
  ) {
    let zero = Four(repeating: 0)
    let z = rows.corners(3, at: i)
    // Chooses the diagonal with the smaller depth step. Its ends are 0 and 2; 0 1 2 3 run
    // clockwise; the triangles are 0 1 2 and 0 2 3. A missing vertex has infinite depth and is
    // therefore on no diagonal.
    let isBC = bits(magnitude(z.b - z.c) .<= magnitude(z.a - z.d))
    let (z0, z2) = (select(isBC, z.b, else: z.a), select(isBC, z.c, else: z.d))
    let (z1, z3) = (select(isBC, z.d, else: z.b), select(isBC, z.a, else: z.c))
    let keeps1 = isContinuous(z0, z1, z2)
    let keeps3 = isContinuous(z0, z2, z3)
    let keeps = keeps1 | keeps3
    guard hasAny(keeps) else { return }

    // A corner that belongs only to dropped triangles must not widen the box: corner 0 replaces it.
    let x = rows.corners(0, at: i)
    let y = rows.corners(1, at: i)
    var (x0, x2) = (select(isBC, x.b, else: x.a), select(isBC, x.c, else: x.d))
    var (y0, y2) = (select(isBC, y.b, else: y.a), select(isBC, y.c, else: y.d))
    var x1 = select(keeps1, select(isBC, x.d, else: x.b), else: x0)
    var y1 = select(keeps1, select(isBC, y.d, else: y.b), else: y0)
    var x3 = select(keeps3, select(isBC, x.a, else: x.c), else: x0)
    var y3 = select(keeps3, select(isBC, y.a, else: y.c), else: y0)
    let column = rasterCeiling(lesser(lesser(x0, x1), lesser(x2, x3)))
    let line = rasterCeiling(lesser(lesser(y0, y1), lesser(y2, y3)))
    let right = greater(greater(x0, x1), greater(x2, x3))
    let below = greater(greater(y0, y1), greater(y2, y3))
    let (columns, lines) = (right - column, below - line)
    let outside = clip.outside(column: column, line: line, right: right, below: below)
    let live = keeps & ~signs(outside | bits(columns) | bits(lines))
    let small = live & signs(bits(columns - 3) & bits(lines - 3))
    let large = live & ~small
    if hasAny(large) {
      for lane in 0..<4 where large[lane] != 0 { drawLarge(rows, at: i &+ lane, target) }
    }
    guard hasAny(small) else { return }

    (x0, x1, x2, x3) = (x0 - column, x1 - column, x2 - column, x3 - column)
    (y0, y1, y2, y3) = (y0 - line, y1 - line, y2 - line, y3 - line)
    var e01 = EdgeFunction(fromX: x0, y0, toX: x1, y1)
    var e12 = EdgeFunction(fromX: x1, y1, toX: x2, y2)
    var e20 = EdgeFunction(fromX: x2, y2, toX: x0, y0)
    var e23 = EdgeFunction(fromX: x2, y2, toX: x3, y3)
    var e30 = EdgeFunction(fromX: x3, y3, toX: x0, y0)
    let area1 = e01.value + e12.value + e20.value
    let area3 = e23.value + e30.value - e20.value
    let draws1 = small & keeps1 & bits(area1 .> zero)
    let draws3 = small & keeps3 & bits(area3 .> zero)
    let w = rows.corners(2, at: i)
    let w0 = select(isBC, w.b, else: w.a)
    let rise1 = select(isBC, w.d, else: w.b) - w0
    let rise2 = select(isBC, w.c, else: w.d) - w0
    let rise3 = select(isBC, w.a, else: w.c) - w0
    // 1/Z = w0 + (edge functions as weights) · rises / area: it stays between the values of the
    // corners, however thin the triangle. All zero where nothing is drawn.
    let inverse1 = keep(1 / area1, where: draws1)
    let inverse3 = keep(1 / area3, where: draws3)
    let (base1, base3) = (keep(w0, where: draws1), keep(w0, where: draws3))
    let (part1, part2) = (rise1 * inverse1, rise2 * inverse1)
    let (part2of3, part3) = (rise2 * inverse3, rise3 * inverse3)

    var offsets = clip.offsets(column: column, line: line, where: small)
    let isWide = hasAny(small & ~signs(bits(columns - 2)))
    let height = hasAny(small & ~signs(bits(lines - 2))) ? 3 : 2
    for _ in 0..<height {
      var (a, b, c, d, e) = (e01.value, e12.value, e20.value, e23.value, e30.value)
      func value() -> Four {
        let f = 0 - c
        let value1 = base1 + c * part1 + a * part2
        let value3 = base3 + e * part2of3 + f * part3
        return greater(inside(value1, a, b, c), inside(value3, d, e, f))
      }
      func goRight() {
        (a, b, c) = (a + e01.right, b + e12.right, c + e20.right)
        (d, e) = (d + e23.right, e + e30.right)
      }
      let left = value()
      goRight()
      records.append(offsets, left: bits(left), right: bits(value()))
      if isWide {
        goRight()
        records.append(offsets &+ 2, left: bits(value()), right: bits(zero))
      }
      e01.goDown()
      e12.goDown()
      e20.goDown()
      e23.goDown()
      e30.goDown()
      offsets &+= clip.rowOffset
    }
  }

  /// Whether the three stored depths of a triangle are one surface.
  @inline(__always)
  private func isContinuous(_ a: Four, _ b: Four, _ c: Four) -> FourBits {
    let nearest = lesser(lesser(a, b), c)
    let farthest = greater(greater(a, b), c)
    let limit = discontinuityAbsolute + discontinuityRelative * nearest
    return bits((farthest - nearest) .<= limit)
  }

  /// The value where none of the edge functions is negative, else 0.
  @inline(__always)
  private func inside(_ value: Four, _ a: Four, _ b: Four, _ c: Four) -> Four {
    keep(value, where: ~signs(bits(a) | bits(b) | bits(c)))
  }
}

/// Twice the area between an edge and a pixel, positive inside, for the pixels of a row. Exact for
/// multiples of 1/512 while everything is within four pixels.
private struct EdgeFunction {
  /// Value at the first pixel of the row.
  var value: Four
  let right: Four
  let down: Four

  /// Subtracting from 0 turns −0 into +0.
  @inline(__always)
  init(fromX x0: Four, _ y0: Four, toX x1: Four, _ y1: Four) {
    right = y0 - y1
    down = x1 - x0
    value = 0 - (right * x0 + down * y0)
  }

  @inline(__always)
  mutating func goDown() { value += down }
}
