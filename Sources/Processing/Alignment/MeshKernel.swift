/// Draws the triangles between neighboring depth pixels.
///
/// Four quads (A top left, B top right, C bottom left, D bottom right) are processed at a time, one
/// per lane. Quads that cover at most three by three pixel centers are drawn in lanes; nearly all
/// do where depth and color have similar resolutions. Larger ones are drawn one by one.
///
/// **Exactness.** Vertices are rounded to multiples of 1/512 pixel. Relative to a box of three
/// pixels they have 11 bits. Every edge function (a difference of two products) then has 23 bits
/// and is computed in single precision without rounding, so neighboring quads agree on which of
/// them covers a pixel center. No tolerance is needed and no gap can appear.
///
/// **Independence.** What a quad writes depends on its group of four alone, never on which part of
/// the picture is drawn, and the largest 1/Z wins: any split into bands gives the same bytes.
struct MeshKernel {
  let vertexStride: Int
  /// Quads per row: one less than depth columns.
  let quads: Int
  /// Millimeters. A thousandth is added so that a difference equal to the limit passes in single
  /// precision too.
  let discontinuityAbsolute: Float
  let discontinuityRelative: Float

  /// `width` is the number of depth columns.
  init(width: Int, parameters: AlignmentParameters) {
    vertexStride = VertexProjector.stride(width: width)
    quads = width - 1
    discontinuityAbsolute = Float(parameters.discontinuityAbsolute * 1000 + 1e-3)
    discontinuityRelative = Float(parameters.discontinuityRelative)
  }

  /// Draws the quads between two vertex rows. `records` must hold `PixelRecords.capacity` values.
  /// `nextRays`, which has as many columns, is read next; it is prefetched meanwhile.
  func draw(
    top: UnsafePointer<Float>, bottom: UnsafePointer<Float>, into target: InverseDepthTarget,
    records storage: UnsafeMutablePointer<Float>, nextRays: UnsafePointer<Float>
  ) {
    let rows = VertexRows(top: top, bottom: bottom, stride: vertexStride)
    let clip = PictureClip(target)
    var records = PixelRecords(storage: storage)
    var i = 0
    while i < quads {
      records.touch(nextRays + RayTable.place(ofColumn: i))
      if !drawRegular(rows, at: i, clip, target, &records) {
        drawGeneral(rows, at: i, clip, target, &records)
      }
      if records.count >= PixelRecords.batch { records.write(to: target.origin) }
      i &+= 4
    }
    records.write(to: target.origin)
  }
}

/// Two neighboring vertex rows in the layout of `VertexProjector`.
struct VertexRows {
  let top: UnsafePointer<Float>
  let bottom: UnsafePointer<Float>
  let stride: Int

  /// One component (0 u, 1 v, 2 w, 3 z) of the corners of four quads from column `i` on.
  @inline(__always)
  func corners(_ stream: Int, at i: Int) -> (a: Four, b: Four, c: Four, d: Four) {
    let at = stream &* stride &+ i
    return (top.four(at), top.four(at &+ 1), bottom.four(at), bottom.four(at &+ 1))
  }
}

/// Tests, per lane, whether boxes of pixels touch a target.
struct PictureClip {
  private let lastColumn: Four
  private let firstRow: Four
  private let lastRow: Four
  private let stride: Four
  /// Offset from a pixel to the one below.
  let rowOffset: SIMD4<Int32>

  init(_ target: InverseDepthTarget) {
    lastColumn = Four(repeating: Float(target.width &- 1))
    firstRow = Four(repeating: Float(target.rows.lowerBound))
    lastRow = Four(repeating: Float(target.rows.upperBound &- 1))
    stride = Four(repeating: Float(target.stride))
    rowOffset = SIMD4(repeating: Int32(truncatingIfNeeded: target.stride))
  }

  /// Negative where a box from (`column`, `line`) to (`right`, `below`) does not touch the target.
  @inline(__always)
  func outside(column: Four, line: Four, right: Four, below: Four) -> FourBits {
    bits(right) | bits(below - firstRow) | bits(lastColumn - column) | bits(lastRow - line)
  }

  /// Offsets of pixels from the target's origin; 0 where `live` has no bits. They are below 2²² in
  /// magnitude, so that single precision is exact.
  @inline(__always)
  func offsets(column: Four, line: Four, where live: FourBits) -> SIMD4<Int32> {
    integers(keep((line - firstRow) * stride + column, where: live))
  }
}

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

extension MeshKernel {
  /// Draws one quad that covers more than three by three pixels, one triangle after the other.
  func drawLarge(_ rows: VertexRows, at i: Int, _ target: InverseDepthTarget) {
    let a = Corner(rows.top, at: i, stride: rows.stride)
    let b = Corner(rows.top, at: i &+ 1, stride: rows.stride)
    let c = Corner(rows.bottom, at: i, stride: rows.stride)
    let d = Corner(rows.bottom, at: i &+ 1, stride: rows.stride)
    if abs(b.z - c.z) <= abs(a.z - d.z) {
      drawLarge(b, d, c, target)
      drawLarge(b, c, a, target)
    } else {
      drawLarge(a, b, d, target)
      drawLarge(a, d, c, target)
    }
  }

  private func drawLarge(_ a: Corner, _ b: Corner, _ c: Corner, _ target: InverseDepthTarget) {
    let nearest = min(a.z, b.z, c.z)
    let farthest = max(a.z, b.z, c.z)
    guard farthest - nearest <= discontinuityAbsolute + discontinuityRelative * nearest else {
      return
    }
    ScreenTriangle(a, b, c, width: target.width)?.draw(into: target)
  }
}

/// A vertex: position on the output grid, 1/Z and stored depth.
struct Corner {
  let x, y, w, z: Float

  init(_ row: UnsafePointer<Float>, at i: Int, stride: Int) {
    x = row[i]
    y = row[stride &+ i]
    w = row[2 &* stride &+ i]
    z = row[3 &* stride &+ i]
  }
}

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
      ab: PixelFunction(first: ab, right: abRight, down: abDown),
      bd: PixelFunction(first: bd, right: bdRight, down: bdDown),
      dc: PixelFunction(first: dc, right: dcRight, down: dcDown),
      ca: PixelFunction(first: ca, right: caRight, down: caDown),
      plane: PixelFunction(
        first: keep(w.a, where: live) - planeRight * ax - planeDown * ay, right: planeRight,
        down: planeDown),
      beyond: PixelFunction(first: beyond, right: beyondRight, down: beyondDown),
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
}

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
      ab: PixelFunction(first: 0 - (abRight * ax + abDown * ay), right: abRight, down: abDown),
      bd: PixelFunction(first: 0 - (bdRight * dx + bdDown * dy), right: bdRight, down: bdDown),
      dc: PixelFunction(first: 0 - (dcRight * dx + dcDown * dy), right: dcRight, down: dcDown),
      ca: PixelFunction(first: 0 - (caRight * ax + caDown * ay), right: caRight, down: caDown),
      plane: PixelFunction(
        first: keep(w.a, where: live) - planeRight * ax - planeDown * ay, right: planeRight,
        down: planeDown),
      beyond: PixelFunction(
        first: 0 - (beyondRight * (ax + xx) + beyondDown * (ay + xy)), right: beyondRight,
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
