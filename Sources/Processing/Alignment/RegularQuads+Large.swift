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
      Four(repeating: function.first[lane]), right: Four(repeating: function.right[lane]),
      down: Four(repeating: function.down[lane]))
  }

  @inline(__always)
  private static func edge(_ function: PixelFunction, _ lane: Int) -> PixelFunction {
    let flat = spread(function, lane)
    let tolerance = 0.0005 * (magnitude(flat.right) + magnitude(flat.down))
    return PixelFunction(flat.first + tolerance, right: flat.right, down: flat.down)
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
