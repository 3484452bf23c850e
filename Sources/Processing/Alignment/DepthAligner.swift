import Core

/// Converts depth frames into the depth that the color camera would have measured: Z along the
/// color camera's optical axis in millimeters, rounded to nearest, 0 = none, on the output grid of
/// the parameters.
///
/// Make one per calibration. The rays of the depth camera are tabulated and rotated into the color
/// camera's axes (12 bytes per depth pixel; one lens inversion each). The aligner is immutable and
/// may be used by any number of threads, each with its own `AlignmentScratch`. Nothing is filled
/// in, smoothed or dilated. The output does not depend on threads, bands or order: the nearest
/// surface wins at each pixel.
///
/// Not for depth whose intrinsics change from frame to frame.
public struct DepthAligner: Sendable {
  public let parameters: AlignmentParameters
  /// Size of the depth frames.
  let depthSize: PictureSize
  /// Intrinsics and size of the output, after the turn. The color lens applies to it too: the
  /// output matches the distorted color image, unless the shape undistorts that.
  public let outputIntrinsics: PinholeCamera
  /// Depth-camera coordinates to coordinates of the unturned color camera, meters.
  public let colorFromDepth: RigidTransform
  /// Cameras whose intrinsics were rescaled from the calibration's size to the capture's.
  public let rescaledCameras: [CameraRescale]
  /// Clockwise quarter turns of the output, 0 to 3.
  let clockwiseQuarterTurns: Int

  /// The camera of the output before the turn, and that of depth.
  let outputCamera: LensCamera
  let depthCamera: LensCamera
  let method: AlignmentMethod
  let rays: RayTable
  let projector: VertexProjector
  /// Size of the output before the turn.
  let unturnedSize: PictureSize

  /// - Parameters:
  ///   - calibration: the two cameras. A registered capture needs no transform (identity) and no
  ///     depth intrinsics (the color camera on the depth grid, lens included).
  ///   - depthSize: size of the frames, if known independently of the calibration; intrinsics are
  ///     rescaled when the aspects agree within 1 %.
  ///   - colorSize: size of the color pictures before any turn; likewise.
  ///   - clockwiseQuarterTurns: how the color pictures were turned; the output is turned by the
  ///     same angle.
  ///   - shape: what was done to the upright color pictures; the output belongs to the shaped ones.
  public init(
    calibration: DepthCalibration, parameters: AlignmentParameters = AlignmentParameters(),
    depthSize: PictureSize? = nil, colorSize: PictureSize? = nil, clockwiseQuarterTurns: Int = 0,
    shape: PictureShape = PictureShape()
  ) throws(AlignmentError) {
    try parameters.validate()
    let cameras = try AlignmentCameras(
      calibration: calibration, depthSize: depthSize, colorSize: colorSize, shape: shape,
      clockwiseQuarterTurns: clockwiseQuarterTurns)
    try self.init(
      cameras, parameters: parameters, clockwiseQuarterTurns: clockwiseQuarterTurns)
  }

  /// For cameras to which all rules have been applied.
  init(
    _ cameras: AlignmentCameras, parameters: AlignmentParameters, clockwiseQuarterTurns: Int
  ) throws(AlignmentError) {
    try parameters.validate()
    let depth = cameras.depth.pinhole
    let output = try Self.outputCamera(parameters.grid, cameras)
    self.parameters = parameters
    self.depthSize = PictureSize(depth)
    self.clockwiseQuarterTurns = clockwiseQuarterTurns.withinFullTurn
    unturnedSize = PictureSize(output.pinhole)
    outputCamera = output
    depthCamera = cameras.depth
    outputIntrinsics = output.pinhole.turnedClockwise(quarterTurns: clockwiseQuarterTurns)
    colorFromDepth = cameras.colorFromDepth
    rescaledCameras = cameras.rescaled
    projector = VertexProjector(
      width: depth.width, translation: cameras.colorFromDepth.translation, color: output,
      minimumDepth: parameters.minimumDepth, snaps: parameters.surface == .mesh)
    method = AlignmentMethod(parameters, cameras, output: output)
    rays =
      method.copies
      ? RayTable.empty
      : RayTable(
        camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
        rows: depth.height, stride: projector.stride)
  }

  /// The color camera on the grid of the output.
  private static func outputCamera(
    _ grid: AlignmentParameters.Grid, _ cameras: AlignmentCameras
  ) throws(AlignmentError) -> LensCamera {
    let color = cameras.color.pinhole
    let size =
      switch grid {
      case .color: PictureSize(color)
      case .halfColor: PictureSize(width: color.width / 2, height: color.height / 2)
      case .quarterColor: PictureSize(width: color.width / 4, height: color.height / 4)
      case .depth: PictureSize(cameras.depth.pinhole)
      }
    guard size.width > 0, size.height > 0 else {
      throw .invalidValue(
        CalibrationFault(
          key: "grid", value: grid.rawValue,
          rule: "a grid of at least one pixel of a color picture of \(PictureSize(color))"))
    }
    return cameras.color.scaled(toWidth: size.width, height: size.height)
  }
}

/// How a frame is processed.
enum AlignmentMethod {
  /// The output camera is the depth camera: the frame is copied, isolated pixels included.
  case copy
  case mesh(MeshKernel)
  case points(SplatKernel)
  /// Uses the rays of the pixels' corners: (i − 0.5, j − 0.5) and (i + 0.5, j + 0.5).
  case rectangle(SplatKernel, corners: RayTable, oppositeCorners: RayTable)

  var copies: Bool {
    if case .copy = self { true } else { false }
  }

  init(_ parameters: AlignmentParameters, _ cameras: AlignmentCameras, output: LensCamera) {
    let depth = cameras.depth.pinhole
    let stride = VertexProjector.stride(width: depth.width)
    if Self.isSame(cameras.depth, output), cameras.colorFromDepth.isNearIdentity {
      self = .copy
      return
    }
    switch parameters.surface {
    case .mesh:
      self = .mesh(MeshKernel(width: depth.width, parameters: parameters))
    case .points:
      self = .points(SplatKernel(vertexStride: stride, width: depth.width, output: output.pinhole))
    case .rectangle:
      func corners(_ offset: Double) -> RayTable {
        RayTable(
          camera: cameras.depth, rotation: cameras.colorFromDepth.rotation, columns: depth.width,
          rows: depth.height, stride: stride, offset: offset)
      }
      self = .rectangle(
        SplatKernel(vertexStride: stride, width: depth.width, output: output.pinhole),
        corners: corners(-0.5),
        oppositeCorners: corners(0.5))
    }
  }

  /// Whether two cameras give the same picture, up to a millionth of a pixel for the rounding of
  /// scales.
  private static func isSame(_ a: LensCamera, _ b: LensCamera) -> Bool {
    let (p, q) = (a.pinhole, b.pinhole)
    return p.width == q.width && p.height == q.height && a.distortion == b.distortion
      && zip([p.fx, p.fy, p.cx, p.cy], [q.fx, q.fy, q.cx, q.cy]).allSatisfy { abs($0 - $1) < 1e-6 }
  }
}

extension RigidTransform {
  /// Whether this is the identity up to the rounding of the last printed digit.
  fileprivate var isNearIdentity: Bool {
    zip(rowMajor, RigidTransform.identity.rowMajor).allSatisfy { abs($0 - $1) < 1e-9 }
  }
}

extension DepthAligner {
  /// Aligns one frame: `depth` in millimeters, row-major, 0 = no measurement, into `output`, which gets
  /// the size of `outputIntrinsics`.
  ///
  /// Throws `frameSize` unless `depth` has the number of pixels of `depthSize`. Cost at 640×480 →
  /// 1296×968: some milliseconds, see the bench.
  public func align(
    _ depth: Span<UInt16>, scratch: inout AlignmentScratch, into output: inout [UInt16]
  ) throws(AlignmentError) {
    try check(depth)
    depth.withUnsafeBufferPointer { depth in
      withUnturnedOutput(&scratch, &output) { scratch, output in
        draw(depth, &scratch, &output)
      }
    }
  }

  /// Aligns depth in an array.
  public func align(
    _ depth: [UInt16], scratch: inout AlignmentScratch, into output: inout [UInt16]
  ) throws(AlignmentError) {
    try align(depth.span, scratch: &scratch, into: &output)
  }

  func check(_ depth: Span<UInt16>) throws(AlignmentError) {
    guard depth.count == depthSize.width * depthSize.height else {
      throw .frameSize(pixels: depth.count, expected: depthSize)
    }
  }

  /// Calls `body` with the array to draw the unturned picture into, then turns the picture into the
  /// output.
  func withUnturnedOutput(
    _ scratch: inout AlignmentScratch, _ output: inout [UInt16],
    _ body: (inout AlignmentScratch, inout [UInt16]) -> Void
  ) {
    output.resize(to: unturnedSize.width * unturnedSize.height)
    guard clockwiseQuarterTurns != 0 else { return body(&scratch, &output) }
    var unturned: [UInt16] = []
    swap(&unturned, &scratch.unturned)
    unturned.resize(to: output.count)
    body(&scratch, &unturned)
    turnClockwise(
      unturned, width: unturnedSize.width, quarterTurns: clockwiseQuarterTurns, into: &output)
    swap(&unturned, &scratch.unturned)
  }

  private func draw(
    _ depth: UnsafeBufferPointer<UInt16>, _ scratch: inout AlignmentScratch,
    _ output: inout [UInt16]
  ) {
    if method.copies {
      for i in output.indices { output[i] = depth[i] }
      return
    }
    let width = unturnedSize.width
    let isEnlarged = output.count >= Self.enlargement * depth.count
    measureLines(isEnlarged ? depth : nil, &scratch)
    let bandRows = bandRows(scratch.lines)
    scratch.inverseDepth.resize(to: InverseDepthTarget.count(width: width, rows: bandRows))
    scratch.records.resize(to: PixelRecords.capacity)
    let lines = scratch.lines
    scratch.withBuffers { vertices, inverseDepth, records in
      output.withUnsafeMutableBufferPointer { output in
        guard let depth = depth.baseAddress, let output = output.baseAddress else { return }
        for first in stride(from: 0, to: unturnedSize.height, by: bandRows) {
          let target = InverseDepthTarget(
            storage: inverseDepth, width: width,
            rows: first..<min(first + bandRows, unturnedSize.height))
          drawRows(depth, vertices, records, lines: lines, into: target)
          InverseDepthTarget.convert(
            inverseDepth, width: width, rows: target.rows.count, into: output + first * width)
        }
      }
    }
  }

  /// Output pixels for each depth pixel from which bands that stay in the near cache gain more than
  /// measuring the lines costs.
  private static var enlargement: Int { 16 }

  /// How many rows of the output are drawn at a time: as many as stay in the near cache, unless
  /// quads are so high that many would be drawn to several such bands.
  private func bandRows(_ lines: [ClosedRange<Float>?]) -> Int {
    let (width, height) = (unturnedSize.width, unturnedSize.height)
    let near = InverseDepthTarget.nearRows(width: width)
    let picture = 0...Float(height)
    var heights: Float = 0
    for lines in lines {
      guard let shown = lines?.clamped(to: picture) else { continue }
      heights += shown.upperBound - shown.lowerBound
    }
    return heights <= Float(near * lines.count) / 2
      ? min(near, height) : InverseDepthTarget.largestRows(width: width, rows: height)
  }

  /// Finds the lines of the output that the quads above each row of vertices reach, and those below
  /// the last row; all lines without depth, and for surfaces other than meshes.
  func measureLines(_ depth: UnsafeBufferPointer<UInt16>?, _ scratch: inout AlignmentScratch) {
    scratch.vertices.resize(to: vertexRowLength * Self.vertexRows)
    scratch.lines.removeAll(keepingCapacity: true)
    guard case .mesh = method, let depth else {
      let all: ClosedRange<Float>? = -.infinity ... .infinity
      scratch.lines.append(contentsOf: repeatElement(all, count: depthSize.height + 1))
      return
    }
    var previous: ClosedRange<Float>?
    for j in 0..<depthSize.height {
      let row = scratch.vertices.withUnsafeMutableBufferPointer { vertices -> ClosedRange<Float>? in
        guard let depth = depth.baseAddress, let row = vertices.baseAddress else { return nil }
        _ = project(depth + j * depthSize.width, rays, row: j, into: row)
        return projector.lines(of: row)
      }
      scratch.lines.append(Self.union(previous, row))
      previous = row
    }
    scratch.lines.append(previous)
  }

  private static func union(
    _ a: ClosedRange<Float>?, _ b: ClosedRange<Float>?
  ) -> ClosedRange<Float>? {
    guard let a, let b else { return a ?? b }
    return min(a.lowerBound, b.lowerBound)...max(a.upperBound, b.upperBound)
  }

  /// Values of one vertex row, and the number of rows that are kept at a time.
  var vertexRowLength: Int { VertexProjector.streams * projector.stride }
  static var vertexRows: Int { 3 }

  /// Projects and draws row after row, but for rows whose quads do not reach the target according to
  /// `lines`, which are those of `measureLines`.
  func drawRows(
    _ depth: UnsafePointer<UInt16>, _ vertices: UnsafeMutablePointer<Float>,
    _ records: UnsafeMutablePointer<Float>, lines: [ClosedRange<Float>?],
    into target: InverseDepthTarget
  ) {
    rays.values.withUnsafeBufferPointer { rays in
      guard let rays = rays.baseAddress else { return }
      let rayRow = RayTable.rowLength(stride: projector.stride)
      var row = vertices
      var previous = vertices + vertexRowLength
      var cleared = 0
      for j in 0..<depthSize.height {
        let isReached = target.isReached(by: lines[j])
        guard isReached || target.isReached(by: lines[j + 1]) else { continue }
        let depth = depth + j * depthSize.width
        let lowest = projector.project(depth: depth, rays: rays + j * rayRow, into: row)
        target.clear(downTo: lowest, &cleared)
        switch method {
        case .copy: break
        case .mesh(let kernel):
          if j > 0, isReached {
            kernel.draw(
              top: previous, bottom: row, into: target, records: records,
              nextRays: rays + min(j + 1, depthSize.height - 1) * rayRow)
          }
          swap(&row, &previous)
        case .points(let kernel):
          kernel.drawPoints(row, into: target)
        case .rectangle(let kernel, let corners, let oppositeCorners):
          let opposite = vertices + 2 * vertexRowLength
          let a = project(depth, corners, row: j, into: previous)
          let b = project(depth, oppositeCorners, row: j, into: opposite)
          target.clear(downTo: max(a, b), &cleared)
          kernel.drawRectangles(
            centers: row, corners: previous, oppositeCorners: opposite, into: target)
        }
      }
      target.clear(downTo: .infinity, &cleared)
    }
  }

  private func project(
    _ depth: UnsafePointer<UInt16>, _ table: RayTable, row j: Int,
    into row: UnsafeMutablePointer<Float>
  ) -> Float {
    table.values.withUnsafeBufferPointer { rays in
      guard let rays = rays.baseAddress else { return 0 }
      return projector.project(
        depth: depth, rays: rays + j * RayTable.rowLength(stride: projector.stride), into: row)
    }
  }
}

extension AlignmentScratch {
  /// Calls `body` with the buffers of one thread, which already have their sizes.
  fileprivate mutating func withBuffers(
    _ body: (
      _ vertices: UnsafeMutablePointer<Float>, _ inverseDepth: UnsafeMutablePointer<Float>,
      _ records: UnsafeMutablePointer<Float>
    ) -> Void
  ) {
    vertices.withUnsafeMutableBufferPointer { vertices in
      inverseDepth.withUnsafeMutableBufferPointer { inverseDepth in
        records.withUnsafeMutableBufferPointer { records in
          guard let vertices = vertices.baseAddress, let inverseDepth = inverseDepth.baseAddress,
            let records = records.baseAddress
          else { return }
          body(vertices, inverseDepth, records)
        }
      }
    }
  }
}

/// Turns a picture of `width` columns clockwise by `quarterTurns` (1, 2 or 3) × 90° into `target`,
/// which has as many elements. Works in tiles that fit the nearest cache.
func turnClockwise(
  _ source: [UInt16], width: Int, quarterTurns: Int, into target: inout [UInt16]
) {
  guard width > 0 else { return }
  let height = source.count / width
  let tile = 32
  source.withUnsafeBufferPointer { source in
    target.withUnsafeMutableBufferPointer { target in
      precondition(source.count == width * height && target.count == source.count)
      // (x, y) moves to start + x · column + y · row.
      let (start, column, row) =
        switch quarterTurns {
        case 1: (height - 1, height, -1)
        case 2: (width * height - 1, -1, -width)
        default: ((width - 1) * height, -height, 1)
        }
      for top in stride(from: 0, to: height, by: tile) {
        for left in stride(from: 0, to: width, by: tile) {
          for y in top..<min(top + tile, height) {
            for x in left..<min(left + tile, width) {
              target[start &+ x &* column &+ y &* row] = source[y &* width &+ x]
            }
          }
        }
      }
    }
  }
}

/// Draws each depth pixel separately: as one output pixel, or as an upright box.
///
/// For comparison with other tools; `MeshKernel` draws surfaces.
struct SplatKernel {
  let vertexStride: Int
  /// Number of depth columns.
  let width: Int
  /// Pixels by which a position in the output may be rounded.
  let rounding: Float

  init(vertexStride: Int, width: Int, output: PinholeCamera) {
    self.vertexStride = vertexStride
    self.width = width
    rounding = Float(max(output.width, output.height)) * 0x1p-22
  }

  /// Draws each vertex of a row to the one pixel nearest to its position.
  func drawPoints(_ row: UnsafePointer<Float>, into target: InverseDepthTarget) {
    let n = vertexStride
    let endColumn = Float(target.width)
    let (firstRow, endRow) = (Float(target.rows.lowerBound), Float(target.rows.upperBound))
    for i in 0..<width {
      let w = row[2 &* n &+ i]
      let (x, y) = (row[i] + 0.5, row[n &+ i] + 0.5)
      guard w > 0, x >= 0, x < endColumn, y >= firstRow, y < endRow else { continue }
      let pixel = target.row(Int(y)) + Int(x)
      if pixel.pointee < w { pixel.pointee = w }
    }
  }

  /// Draws each depth pixel to the pixel centers in the box that its projected corners span, lower
  /// bound included, upper excluded, and to the pixel that `drawPoints` would write. All get the
  /// depth of the pixel's center. If a corner has no projection, only the latter is drawn.
  ///
  /// Borders of boxes often lie on pixel centers: with 7.5 pixels per depth pixel every second one does. Both
  /// bounds are therefore moved by `rounding`, so that of two boxes that meet one has the center.
  func drawRectangles(
    centers: UnsafePointer<Float>, corners: UnsafePointer<Float>,
    oppositeCorners: UnsafePointer<Float>, into target: InverseDepthTarget
  ) {
    drawPoints(centers, into: target)
    let n = vertexStride
    let endColumn = Float(target.width)
    let (firstRow, endRow) = (Float(target.rows.lowerBound), Float(target.rows.upperBound))
    for i in 0..<width {
      let w = centers[2 &* n &+ i]
      guard w > 0, corners[2 &* n &+ i] > 0, oppositeCorners[2 &* n &+ i] > 0 else { continue }
      let (u0, u1) = (corners[i], oppositeCorners[i])
      let (v0, v1) = (corners[n &+ i], oppositeCorners[n &+ i])
      let left = Self.ceiling(min(u0, u1) - rounding, from: 0, to: endColumn)
      let right = Self.ceiling(max(u0, u1) - rounding, from: 0, to: endColumn)
      let top = Self.ceiling(min(v0, v1) - rounding, from: firstRow, to: endRow)
      let below = Self.ceiling(max(v0, v1) - rounding, from: firstRow, to: endRow)
      var y = top
      while y < below {
        let pixels = target.row(y)
        var x = left
        while x < right {
          pixels[x] = max(pixels[x], w)
          x &+= 1
        }
        y &+= 1
      }
    }
  }

  /// The smallest integer not below the value, clamped to the bounds, without a library call.
  @inline(__always)
  private static func ceiling(_ value: Float, from low: Float, to high: Float) -> Int {
    let bounded = min(max(value, low), high)
    let whole = Int(bounded)
    return Float(whole) < bounded ? whole &+ 1 : whole
  }
}
