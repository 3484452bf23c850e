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
struct MeshKernel: Sendable {
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
