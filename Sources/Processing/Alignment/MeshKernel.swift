/// Draws the triangles between neighboring depth pixels.
///
/// Four quads (A left above, B right above, C left below, D right below) are worked on at a time, one
/// per lane. Quads that cover at most three by three pixel centers, nearly all of them where depth
/// and color have similar resolutions, are drawn in lanes; larger ones one by one.
///
/// **Exactness.** Vertices lie on a raster of 1/512 pixel. Relative to a box of three pixels they have
/// 11 bits, so every edge function (a difference of two products) has 23 bits and is computed in
/// single precision without any rounding: a pixel center is inside or on the edge, or it is not,
/// whatever quad asks. No tolerance is needed and no crack can open.
///
/// **Independence.** What a quad writes depends on its group of four alone, never on which part of the
/// picture is drawn, and the largest 1/Z stays: any split into bands gives the same bytes.
struct MeshKernel: Sendable {
  let vertexStride: Int
  /// Quads in a row: one less than depth columns.
  let quads: Int
  /// Millimeters. A thousandth is added so that equality keeps a triangle in single precision too.
  let discontinuityAbsolute: Float
  let discontinuityRelative: Float

  /// `width` in depth columns.
  init(width: Int, parameters: AlignmentParameters) {
    vertexStride = VertexProjector.stride(width: width)
    quads = width - 1
    discontinuityAbsolute = Float(parameters.discontinuityAbsolute * 1000 + 1e-3)
    discontinuityRelative = Float(parameters.discontinuityRelative)
  }

  /// Draws the quads between two vertex rows. `records` has room for `PixelRecords.capacity` values.
  /// `nextRays`, which has as many columns, is what will be read next: it is fetched on the way.
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

/// Two neighboring vertex rows, laid out as `VertexProjector` writes them.
struct VertexRows {
  let top: UnsafePointer<Float>
  let bottom: UnsafePointer<Float>
  let stride: Int

  /// One stream (0 u, 1 v, 2 w, 3 z) of the corners of four quads from column `i` on.
  @inline(__always)
  func corners(_ stream: Int, at i: Int) -> (a: Four, b: Four, c: Four, d: Four) {
    let at = stream &* stride &+ i
    return (top.four(at), top.four(at &+ 1), bottom.four(at), bottom.four(at &+ 1))
  }
}

/// Where boxes of pixels touch a target, in lanes.
struct PictureClip {
  private let lastColumn: Four
  private let firstRow: Four
  private let lastRow: Four
  private let stride: Four
  /// From a pixel to the one below.
  let rowOffset: SIMD4<Int32>

  init(_ target: InverseDepthTarget) {
    lastColumn = Four(repeating: Float(target.width &- 1))
    firstRow = Four(repeating: Float(target.rows.lowerBound))
    lastRow = Four(repeating: Float(target.rows.upperBound &- 1))
    stride = Four(repeating: Float(target.stride))
    rowOffset = SIMD4(repeating: Int32(truncatingIfNeeded: target.stride))
  }

  /// Negative where a box that starts at (`column`, `line`) and ends at (`right`, `below`) does not
  /// touch the target.
  @inline(__always)
  func outside(column: Four, line: Four, right: Four, below: Four) -> FourBits {
    bits(right) | bits(below - firstRow) | bits(lastColumn - column) | bits(lastRow - line)
  }

  /// Offsets of pixels from the target's origin; 0 where `live` has no bits. A target has fewer than
  /// 2²² values before and behind its origin, so that single precision counts them exactly.
  @inline(__always)
  func offsets(column: Four, line: Four, where live: FourBits) -> SIMD4<Int32> {
    integers(keep((line - firstRow) * stride + column, where: live))
  }
}
