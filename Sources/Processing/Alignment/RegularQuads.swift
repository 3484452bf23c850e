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
