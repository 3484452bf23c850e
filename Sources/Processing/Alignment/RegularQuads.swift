/// Four convex quads as functions of the pixel.
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
  /// Draws boxes of any size, quad by quad, in columns four pixels wide.
  ///
  /// Edge functions are rounded at this size. They are raised by 0.0005 pixel along the edge's
  /// sides, at most 0.0007 across it, which is more than the rounding error.
  @inline(never)
  func drawLarge(
    column: Four, line: Four, right: Four, below: Four, _ target: InverseDepthTarget
  ) {
    for lane in 0..<4 {
      let (firstColumn, firstLine) = (Int(column[lane]), Int(line[lane]))
      let left = max(firstColumn, 0)
      let end = min(Int(right[lane]), target.width &- 1) &+ 1
      let top = max(firstLine, target.rows.lowerBound)
      let bottom = min(Int(below[lane]), target.rows.upperBound &- 1) &+ 1
      guard left < end, top < bottom else { continue }
      let quad = OneQuad(self, lane)
      // Pixels are counted from the box's first one even if it is clipped, and lines above a band
      // are stepped through, so that every band computes the same numbers.
      var x = left
      while x < end {
        quad.drawColumn(
          target.row(top) + x, stride: target.stride, from: Float(x &- firstColumn),
          skipping: top &- firstLine, lines: bottom &- top)
        x &+= 4
      }
    }
  }
}

/// One of the four quads, with its functions in all lanes.
private struct OneQuad {
  let ab, bd, dc, ca, plane, beyond: PixelFunction
  let bend: Four

  @inline(__always)
  init(_ quads: RegularQuads, _ lane: Int) {
    ab = Self.edge(quads.ab, lane)
    bd = Self.edge(quads.bd, lane)
    dc = Self.edge(quads.dc, lane)
    ca = Self.edge(quads.ca, lane)
    plane = Self.spread(quads.plane, lane)
    beyond = Self.spread(quads.beyond, lane)
    bend = Four(repeating: quads.bend[lane])
  }

  @inline(__always)
  private static func spread(_ function: PixelFunction, _ lane: Int) -> PixelFunction {
    PixelFunction(
      first: Four(repeating: function.first[lane]), right: Four(repeating: function.right[lane]),
      down: Four(repeating: function.down[lane]))
  }

  @inline(__always)
  private static func edge(_ function: PixelFunction, _ lane: Int) -> PixelFunction {
    let flat = spread(function, lane)
    let tolerance = 0.0005 * (magnitude(flat.right) + magnitude(flat.down))
    return PixelFunction(first: flat.first + tolerance, right: flat.right, down: flat.down)
  }

  /// Up to three pixels of padding right of the picture may be written.
  @inline(__always)
  func drawColumn(
    _ pixels: UnsafeMutablePointer<Float>, stride: Int, from start: Float, skipping: Int,
    lines: Int
  ) {
    let at = Four(0, 1, 2, 3) + start
    var ab = self.ab.first + self.ab.right * at
    var bd = self.bd.first + self.bd.right * at
    var dc = self.dc.first + self.dc.right * at
    var ca = self.ca.first + self.ca.right * at
    var plane = self.plane.first + self.plane.right * at
    var beyond = self.beyond.first + self.beyond.right * at
    var row = pixels
    var line = -skipping
    while line < lines {
      if line >= 0 {
        let edges = bits(ab) | bits(bd) | bits(dc) | bits(ca)
        let value = plane + bend * greater(beyond, Four(repeating: 0))
        row.storeFour(greater(keep(value, where: ~signs(edges)), row.four(0)), 0)
        row += stride
      }
      ab += self.ab.down
      bd += self.bd.down
      dc += self.dc.down
      ca += self.ca.down
      plane += self.plane.down
      beyond += self.beyond.down
      line &+= 1
    }
  }
}
