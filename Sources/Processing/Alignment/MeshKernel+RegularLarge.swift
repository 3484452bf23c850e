extension MeshKernel {
  /// Draws four quads as `drawRegular` does, if one of them is larger than three by three pixels.
  /// All are continuous surfaces.
  ///
  /// Edge functions and areas are rounded at this size, so that areas cannot be taken as sums of
  /// edge functions: each is computed by itself.
  @inline(never)
  func drawRegularLarge(
    _ rows: VertexRows, at i: Int, _ clip: PictureClip, _ target: InverseDepthTarget
  ) -> Bool {
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
    // Twice the areas of the triangles of both splits: all positive means convex and front-facing.
    let abd = adDown * abRight - abDown * adRight
    let adc = adDown * caRight - caDown * adRight
    let abc = abDown * caRight - caDown * abRight
    let whole = abd + adc
    let bdc = whole - abc
    let smallest = lesser(lesser(abd, adc), lesser(abc, bdc))
    let isUpright = bits(dcDown) & bits(bdRight)
    let isNot = bits(abDown) | bits(caRight) | bits(smallest - Self.smallestArea) | ~isUpright
    let outside = clip.outside(column: column, line: line, right: right, below: below)
    if hasAnySign(isNot) || !isThick(smallest, columns, lines, column, line) { return false }
    if hasAllSigns(outside) { return true }
    let live = ~signs(outside)

    // The diagonal with the smaller step, A–D or B–C, and its lower end X.
    let z = rows.corners(3, at: i)
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
    // How far the four corners are from one plane; the sign depends on the split.
    let twist = riseD * abc - riseB * adc - riseC * abd
    let rest = four(bits(twist) ^ (~isBC & 0x8000_0000))
    let inverse = keep(1 / (areaX * areaV), where: live)
    let inverseX = inverse * areaV
    let (planeRight, planeDown) = (slopeX * inverseX, slopeY * inverseX)

    // Edge functions at the box's first pixel. Taking from 0 makes −0 a zero without sign.
    let (ax, ay) = (x.a - column, y.a - line)
    let (dx, dy) = (x.d - column, y.d - line)
    let quads = RegularQuads(
      ab: PixelFunction(0 - (abRight * ax + abDown * ay), right: abRight, down: abDown),
      bd: PixelFunction(0 - (bdRight * dx + bdDown * dy), right: bdRight, down: bdDown),
      dc: PixelFunction(0 - (dcRight * dx + dcDown * dy), right: dcRight, down: dcDown),
      ca: PixelFunction(0 - (caRight * ax + caDown * ay), right: caRight, down: caDown),
      plane: PixelFunction(
        keep(w.a, where: live) - planeRight * ax - planeDown * ay, right: planeRight,
        down: planeDown),
      beyond: PixelFunction(
        0 - (beyondRight * (ax + xx) + beyondDown * (ay + xy)), right: beyondRight,
        down: beyondDown),
      bend: rest * inverse)
    quads.drawLarge(column: column, line: line, right: right, below: below, target)
    return true
  }

  /// Whether large quads can be drawn this way. Every triangle must fill at least a thirty-second
  /// of its box, so that the tolerance of the edges stays close to the corners' depths. Quads must
  /// be small and near enough for single precision: 64 pixels a side, and boxes that begin where
  /// multiples of 1/512 are still exact.
  @inline(__always)
  private func isThick(
    _ smallest: Four, _ columns: Four, _ lines: Four, _ column: Four, _ line: Four
  ) -> Bool {
    all(
      (smallest * 16 .>= columns * lines) .& (greater(columns, lines) .< Four(repeating: 64))
        .& (greater(magnitude(column), magnitude(line)) .< Four(repeating: 8000)))
  }
}
