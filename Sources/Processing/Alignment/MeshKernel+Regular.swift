extension MeshKernel {
  /// Draws four quads at once if each is one continuous surface, front-facing, convex and hardly
  /// rotated, as nearly all quads inside a surface are. Otherwise draws nothing and returns false.
  @inline(__always)
  func drawRegular(
    _ rows: VertexRows, at i: Int, _ clip: PictureClip, _ target: InverseDepthTarget,
    _ records: inout PixelRecords
  ) -> Bool {
    let z = rows.corners(3, at: i)
    let nearest = lesser(lesser(z.a, z.b), lesser(z.c, z.d))
    let farthest = greater(greater(z.a, z.b), greater(z.c, z.d))
    let limit = discontinuityAbsolute + discontinuityRelative * nearest
    guard all((farthest - nearest) .<= limit) else { return false }

    let x = rows.corners(0, at: i)
    let y = rows.corners(1, at: i)
    let column = rasterCeiling(lesser(x.a, x.c))
    let line = rasterCeiling(lesser(y.a, y.b))
    let right = greater(x.b, x.d)
    let below = greater(y.c, y.d)
    let (columns, lines) = (right - column, below - line)
    if hasAnySign(~(bits(columns - 3) & bits(lines - 3))) {
      return drawRegularLarge(rows, at: i, clip, target)
    }
    // For each edge, in the order A B D C, how its edge function changes downward and to the right.
    let (abDown, abRight) = (x.b - x.a, y.a - y.b)
    let (bdDown, bdRight) = (x.d - x.b, y.b - y.d)
    let (dcDown, dcRight) = (x.c - x.d, y.d - y.c)
    let (caDown, caRight) = (x.a - x.c, y.c - y.a)
    let (ax, ay) = (x.a - column, y.a - line)
    let (dx, dy) = (x.d - column, y.d - line)
    // Edge functions at the box's first pixel. Subtracting from 0 turns −0 into +0.
    let ab = 0 - (abRight * ax + abDown * ay)
    let ca = 0 - (caRight * ax + caDown * ay)
    let bd = 0 - (bdRight * dx + bdDown * dy)
    let dc = 0 - (dcRight * dx + dcDown * dy)
    // Twice the areas of the triangles of both splits: all positive means convex and front-facing.
    // The edge functions of a triangle's three sides add up to its area, exactly.
    let atA = ab + ca
    let whole = atA + (bd + dc)
    let abc = abDown * caRight - caDown * abRight
    let abd = bdDown * abRight - abDown * bdRight
    let bdc = whole - abc
    let adc = whole - abd
    let smallest = lesser(lesser(abd, adc), lesser(abc, bdc))
    let isUpright = bits(dcDown) & bits(bdRight)
    let isNot = bits(abDown) | bits(caRight) | bits(smallest - Self.smallestArea) | ~isUpright
    let outside = clip.outside(column: column, line: line, right: right, below: below)
    var live = FourBits(repeating: .max)
    if hasAnySign(isNot | outside) {
      if hasAnySign(isNot) { return false }
      if hasAllSigns(outside) { return true }
      live = ~signs(outside)
    }

    // The diagonal with the smaller step, A–D or B–C, and its lower end X.
    let isBC = bits(magnitude(z.b - z.c) .<= magnitude(z.a - z.d))
    let (signBC, signAD) = (isBC & 0x8000_0000, ~isBC & 0x8000_0000)
    let xx = select(isBC, x.c, else: x.d) - x.a
    let xy = select(isBC, y.c, else: y.d) - y.a
    let beyondDown = four(bits(xx) ^ signBC) + keep(abDown, where: isBC)
    let beyondRight = four(bits(xy) ^ signAD) + keep(abRight, where: isBC)
    let areaX = select(isBC, abc, else: abd)
    let areaV = whole - areaX
    let beyond = ab + select(isBC, ca, else: bd) - areaX
    let w = rows.corners(2, at: i)
    let (riseB, riseC, riseD) = (w.b - w.a, w.c - w.a, w.d - w.a)
    let riseX = select(isBC, riseC, else: riseD)
    let slopeX = riseB * xy + riseX * abRight
    let slopeY = riseX * abDown - riseB * xx
    // How far the four corners are from one plane; the sign depends on the split.
    let twist = riseD * abc - riseB * adc - riseC * abd
    let rest = four(bits(twist) ^ signAD)
    let inverse = keep(1 / (areaX * areaV), where: live)
    let inverseX = inverse * areaV
    let (planeRight, planeDown) = (slopeX * inverseX, slopeY * inverseX)

    let quads = RegularQuads(
      ab: PixelFunction(ab, right: abRight, down: abDown),
      bd: PixelFunction(bd, right: bdRight, down: bdDown),
      dc: PixelFunction(dc, right: dcRight, down: dcDown),
      ca: PixelFunction(ca, right: caRight, down: caDown),
      plane: PixelFunction(
        keep(w.a, where: live) - planeRight * ax - planeDown * ay, right: planeRight,
        down: planeDown),
      beyond: PixelFunction(beyond, right: beyondRight, down: beyondDown),
      bend: rest * inverse)
    let offsets = clip.offsets(column: column, line: line, where: live)
    if hasAnySign(~bits(columns - 2)) {
      quads.appendThreeWide(offsets, hasAnySign(~bits(lines - 2)) ? 3 : 2, clip, &records)
    } else if hasAnySign(~bits(lines - 2)) {
      quads.appendThreeHigh(offsets, clip, &records)
    } else {
      quads.appendTwoByTwo(offsets, clip, &records, origin: target.origin)
    }
    return true
  }

  /// Twice the smallest area in square pixels that counts as regular: above it 1/Z keeps six
  /// digits.
  static var smallestArea: Four { Four(repeating: 1 / 64) }
}

/// A function of the pixel that is linear in both directions, in four lanes.
struct PixelFunction {
  /// Value at the first pixel of the box.
  let first: Four
  let right: Four
  let down: Four

  @inline(__always)
  init(_ first: Four, right: Four, down: Four) {
    self.first = first
    self.right = right
    self.down = down
  }
}
