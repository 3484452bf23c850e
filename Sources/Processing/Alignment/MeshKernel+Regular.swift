extension MeshKernel {
  /// Draws four quads at once if each is one piece of surface, seen from the front, convex, not turned
  /// by much and small: nearly all quads inside a surface. Otherwise draws nothing and returns false.
  ///
  /// A pixel belongs to a convex quad if it is on the inner side of its four edges, whichever diagonal
  /// splits it, and 1/Z is a plane with a bend along the diagonal: the plane through A, B and the
  /// diagonal's lower end X, plus a multiple of the edge function beyond the diagonal.
  @inline(__always)
  func drawRegular(
    _ rows: VertexRows, at i: Int, _ clip: PictureClip, _ records: inout PixelRecords
  ) -> Bool {
    let z = rows.corners(3, at: i)
    let nearest = lesser(lesser(z.a, z.b), lesser(z.c, z.d))
    let farthest = greater(greater(z.a, z.b), greater(z.c, z.d))
    let limit = discontinuityAbsolute + discontinuityRelative * nearest
    let isFlat = bits((farthest - nearest) .<= limit)

    let x = rows.corners(0, at: i)
    let y = rows.corners(1, at: i)
    let column = rasterCeiling(lesser(x.a, x.c))
    let line = rasterCeiling(lesser(y.a, y.b))
    let right = greater(x.b, x.d)
    let below = greater(y.c, y.d)
    let (columns, lines) = (right - column, below - line)
    // For each edge, in the order A B D C, how its edge function changes downward and to the right.
    let (abDown, abRight) = (x.b - x.a, y.a - y.b)
    let (bdDown, bdRight) = (x.d - x.b, y.b - y.d)
    let (dcDown, dcRight) = (x.c - x.d, y.d - y.c)
    let (caDown, caRight) = (x.a - x.c, y.c - y.a)
    let (adDown, adRight) = (x.d - x.a, y.a - y.d)
    // Twice the areas of the triangles of both splits: all positive means convex and not turned over.
    let abd = adDown * abRight - abDown * adRight
    let adc = adDown * caRight - caDown * adRight
    let abc = abDown * caRight - caDown * abRight
    let whole = abd + adc
    let bdc = whole - abc
    let smallest = lesser(lesser(abd, adc), lesser(abc, bdc))
    let isRegular =
      isFlat & bits(dcDown) & bits(bdRight) & bits(columns - 3) & bits(lines - 3)
    let isNot = bits(abDown) | bits(caRight) | bits(smallest - Self.smallestArea) | ~isRegular
    let outside = clip.outside(column: column, line: line, right: right, below: below)
    var live = FourBits(repeating: .max)
    if hasAnySign(isNot | outside) {
      if hasAnySign(isNot) { return false }
      if hasAllSigns(outside) { return true }
      live = ~signs(outside)
    }

    // The diagonal with the smaller step, A–D or B–C, and its lower end X.
    let isBC = bits(magnitude(z.b - z.c) .<= magnitude(z.a - z.d))
    let xx = select(isBC, x.c - x.a, else: adDown)
    let xy = select(isBC, caRight, else: y.d - y.a)
    let beyondDown = select(isBC, abDown + caDown, else: adDown)
    let beyondRight = select(isBC, abRight + caRight, else: adRight)
    let areaX = select(isBC, abc, else: abd)
    let areaV = whole - areaX
    let w = rows.corners(2, at: i)
    let (riseB, riseC, riseD) = (w.b - w.a, w.c - w.a, w.d - w.a)
    let riseX = select(isBC, riseC, else: riseD)
    let slopeX = riseB * xy + riseX * abRight
    let slopeY = riseX * abDown - riseB * xx
    // How far the four corners are from one plane, with the sign that the split asks for.
    let twist = riseD * abc - riseB * adc - riseC * abd
    let rest = four(bits(twist) ^ (~isBC & 0x8000_0000))
    let inverse = keep(1 / (areaX * areaV), where: live)
    let inverseX = inverse * areaV
    let (planeRight, planeDown) = (slopeX * inverseX, slopeY * inverseX)
    let bend = rest * inverse

    // Edge functions at the box's first pixel. Taking from 0 makes −0 a zero without sign.
    let (ax, ay) = (x.a - column, y.a - line)
    let (dx, dy) = (x.d - column, y.d - line)
    let plane = keep(w.a, where: live) - planeRight * ax - planeDown * ay
    let offsets = clip.offsets(column: column, line: line, where: live)
    let ab = 0 - (abRight * ax + abDown * ay)
    let bd = 0 - (bdRight * dx + bdDown * dy)
    let dc = 0 - (dcRight * dx + dcDown * dy)
    let ca = 0 - (caRight * ax + caDown * ay)
    let beyond = 0 - (beyondRight * (ax + xx) + beyondDown * (ay + xy))
    if !hasAnySign(~bits(columns - 2) | ~bits(lines - 2)) {
      var signs = TwoByTwo(ab, right: abRight, down: abDown)
      signs.unite(TwoByTwo(bd, right: bdRight, down: bdDown))
      signs.unite(TwoByTwo(dc, right: dcRight, down: dcDown))
      signs.unite(TwoByTwo(ca, right: caRight, down: caDown))
      let planes = TwoByTwo(plane, right: planeRight, down: planeDown)
      let bends = TwoByTwo(beyond, right: beyondRight, down: beyondDown)
      records.append(
        offsets,
        left: value(planes.v00, bends.v00, bend, signs.v00),
        right: value(planes.v10, bends.v10, bend, signs.v10))
      records.append(
        offsets &+ clip.rowOffset,
        left: value(planes.v01, bends.v01, bend, signs.v01),
        right: value(planes.v11, bends.v11, bend, signs.v11))
    } else {
      var offsets = offsets
      var (ab, bd, dc, ca, plane, beyond) = (ab, bd, dc, ca, plane, beyond)
      for _ in 0..<3 {
        let signs0 = bits(ab) | bits(bd) | bits(dc) | bits(ca)
        let signs1 =
          bits(ab + abRight) | bits(bd + bdRight) | bits(dc + dcRight) | bits(ca + caRight)
        let signs2 =
          bits(ab + 2 * abRight) | bits(bd + 2 * bdRight) | bits(dc + 2 * dcRight)
          | bits(ca + 2 * caRight)
        records.append(
          offsets, left: value(plane, beyond, bend, signs0),
          right: value(plane + planeRight, beyond + beyondRight, bend, signs1))
        records.append(
          offsets &+ 2, left: value(plane + 2 * planeRight, beyond + 2 * beyondRight, bend, signs2),
          right: FourBits(repeating: 0))
        ab += abDown
        bd += bdDown
        dc += dcDown
        ca += caDown
        plane += planeDown
        beyond += beyondDown
        offsets &+= clip.rowOffset
      }
    }
    return true
  }

  /// Twice the smallest area in square pixels that counts as regular: 1/Z keeps six digits above it.
  private static var smallestArea: Four { Four(repeating: 1 / 64) }
}

/// 1/Z at a pixel, or 0 where one of the edge functions that `edges` unites is negative.
@inline(__always)
private func value(_ plane: Four, _ beyond: Four, _ bend: Four, _ edges: FourBits) -> FourBits {
  bits(plane + bend * greater(beyond, Four(repeating: 0))) & ~signs(edges)
}
@inline(__always)
private func value(_ plane: Four, _ beyond: Four, _ bend: Four, _ edges: Four) -> FourBits {
  value(plane, beyond, bend, bits(edges))
}

/// A function of the pixel at (0, 0), (1, 0), (0, 1), (1, 1).
private struct TwoByTwo {
  var v00, v10, v01, v11: Four

  @inline(__always)
  init(_ first: Four, right: Four, down: Four) {
    v00 = first
    v10 = first + right
    v01 = first + down
    v11 = v10 + down
  }

  /// Collects signs: the sign bit is set where it is in either.
  @inline(__always)
  mutating func unite(_ other: Self) {
    v00 = four(bits(v00) | bits(other.v00))
    v10 = four(bits(v10) | bits(other.v10))
    v01 = four(bits(v01) | bits(other.v01))
    v11 = four(bits(v11) | bits(other.v11))
  }
}
