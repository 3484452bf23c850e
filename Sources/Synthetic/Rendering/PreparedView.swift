import CRendering
import Core

/// A scene seen from one viewpoint: precomputed values that all pixels of a picture share.
///
/// Rays start at the camera and have the direction `(u', v', 1)` in camera axes for pixel (u, v),
/// so that the ray parameter of a hit is its depth along the optical axis.
struct PreparedView {
  /// A block in its own axes, and the pixels that it can cover.
  struct PreparedBlock {
    var origin: Vector3
    var half: Vector3
    /// Camera axes to block axes.
    var turn: Matrix3
    var firstSurface: Int32
    var pixels: PixelRange
    /// The faces among `outlines` toward the camera, at most three.
    var faces: Range<Int>
  }

  struct PreparedBall {
    /// In camera axes.
    var center: Vector3
    var radius: Double
    var surface: Int32
    var pixels: PixelRange
  }

  let camera: PinholeCamera
  let viewpoint: Viewpoint
  let low: Vector3
  let high: Vector3
  let blocks: [PreparedBlock]
  let balls: [PreparedBall]
  /// Visible faces of all blocks, block by block.
  let outlines: [FaceOutline]
  /// u' of every column.
  let directions: [Double]
  /// Whether vectors of eight numbers are used.
  let isWide: Bool

  init(
    room: Room, camera: PinholeCamera, viewpoint: Viewpoint, isWide: Bool = PixelLoops.hasWide
  ) {
    self.camera = camera
    self.isWide = isWide
    self.viewpoint = viewpoint
    low = room.low - viewpoint.position
    high = room.high - viewpoint.position
    let inverse = 1 / camera.fx
    directions = (0..<camera.width).map { (Double($0) - camera.cx) * inverse }
    let cameraFromWorld = viewpoint.worldFromCamera.transposed
    var outlines: [FaceOutline] = []
    blocks = room.blocks.map { block in
      let blockFromWorld = block.worldFromBlock.transposed
      var corners: [Vector3] = []
      for corner in 0..<8 {
        let world = block.worldFromBlock * (Self.signs(corner) * block.half) + block.center
        corners.append(cameraFromWorld * (world - viewpoint.position))
      }
      let origin = blockFromWorld * (viewpoint.position - block.center)
      let firstOutline = outlines.count
      for face in 0..<6 {
        let axis = face / 2
        // As the caster computes it, to the last bit.
        let plane =
          face % 2 == 0
          ? block.half[axis] * -1 - origin[axis] : block.half[axis] - origin[axis]
        // The camera is on the outer side of the face, or so close to its plane that it may be.
        guard face % 2 == 0 ? plane > -1e-9 : plane < 1e-9 else { continue }
        outlines.append(FaceOutline(face: face, plane: plane, corners: corners, camera: camera))
      }
      return PreparedBlock(
        origin: origin, half: block.half, turn: blockFromWorld * viewpoint.worldFromCamera,
        firstSurface: Int32(block.firstSurface),
        pixels: PixelRange(around: corners, camera: camera),
        faces: firstOutline..<outlines.count)
    }
    self.outlines = outlines
    balls = room.balls.map { ball in
      let center = cameraFromWorld * (ball.center - viewpoint.position)
      // The corners of the cube around a ball enclose its outline.
      let corners = (0..<8).map { center + Self.signs($0) * ball.radius }
      return PreparedBall(
        center: center, radius: ball.radius, surface: Int32(ball.surface),
        pixels: PixelRange(around: corners, camera: camera))
    }
  }
}

extension PreparedView {
  /// The ends of the three axes at a corner of a box.
  private static func signs(_ corner: Int) -> Vector3 {
    Vector3(corner & 1 == 0 ? -1 : 1, corner & 2 == 0 ? -1 : 1, corner & 4 == 0 ? -1 : 1)
  }

  /// Casts the rays of row `v`: `depths` become distances along the optical axis in meters, exact up
  /// to rounding, and `surfaces` indices into the scene's surfaces, one a column. Both must hold at
  /// least as many elements as columns.
  ///
  /// Every ray hits a wall, because the camera is inside the box. Cost: about 2 ns per pixel, and
  /// 2 ns more for each object that covers it.
  func castRow(
    _ v: Int, depths: inout MutableSpan<Double>, surfaces: inout MutableSpan<Int32>
  ) {
    precondition(camera.width <= depths.count && camera.width <= surfaces.count)
    let y = (Double(v) - camera.cy) / camera.fy
    castWalls(y: y, &depths, &surfaces)
    for index in blocks.indices where blocks[index].pixels.rows.contains(v) {
      cast(blocks[index], v, y: y, &depths, &surfaces)
    }
    for ball in balls where ball.pixels.rows.contains(v) {
      cast(ball, y: y, &depths, &surfaces)
    }
  }

  // MARK: - Walls

  /// How many pixels are looked at together: those that see the first and the last wall.
  private static let wallStride = 32

  /// A wall is convex: between two pixels that surely show it all others do.
  private func castWalls(
    y: Double, _ depths: inout MutableSpan<Double>, _ surfaces: inout MutableSpan<Int32>
  ) {
    let turn = viewpoint.worldFromCamera
    let start = turn.y * y + turn.z
    var u = 0
    while u < camera.width {
      let end = min(camera.width, u &+ Self.wallStride)
      let first = wall(at: u, start)
      if first.isCertain, case let last = wall(at: end &- 1, start), last.isCertain,
        first.surface == last.surface
      {
        fill(u..<end, withWall: first.surface, start, &depths, &surfaces)
      } else {
        while u < end {
          let hit = wall(at: u, start)
          depths[unchecked: u] = hit.depth
          surfaces[unchecked: u] = hit.surface
          u &+= 1
        }
      }
      u = end
    }
  }

  /// The wall that a pixel shows; certain if rounding errors cannot have chosen it.
  @inline(__always)
  private func wall(
    at u: Int, _ start: Vector3
  ) -> (depth: Double, surface: Int32, isCertain: Bool) {
    let step = viewpoint.worldFromCamera.x
    let x = directions.span[unchecked: u]
    let dx = step.x * x + start.x
    let dy = step.y * x + start.y
    let dz = step.z * x + start.z
    let tx = (dx < 0 ? low.x : high.x) / dx
    let ty = (dy < 0 ? low.y : high.y) / dy
    let tz = (dz < 0 ? low.z : high.z) / dz
    // The nearest of the three walls ahead; a ray parallel to a wall gives infinity.
    var depth = tx
    var surface: Int32 = dx < 0 ? 0 : 1
    if ty < depth {
      depth = ty
      surface = dy < 0 ? 2 : 3
    }
    if tz < depth {
      depth = tz
      surface = dz < 0 ? 4 : 5
    }
    let limit = depth * (1 + 1e-9)
    let near = (tx <= limit ? 1 : 0) + (ty <= limit ? 1 : 0) + (tz <= limit ? 1 : 0)
    return (depth, surface, depth > 0 && near == 1)
  }

  private func fill(
    _ columns: Range<Int>, withWall surface: Int32, _ start: Vector3,
    _ depths: inout MutableSpan<Double>, _ surfaces: inout MutableSpan<Int32>
  ) {
    let axis = Int(surface) / 2
    let plane = surface % 2 == 0 ? low[axis] : high[axis]
    withPointers(columns, &depths, &surfaces) { x, depths, surfaces in
      scanmill_render_wall(
        isWide, x, Int64(columns.count), plane, viewpoint.worldFromCamera.x[axis], start[axis],
        surface, depths, surfaces)
    }
  }

  /// The directions, depths and surfaces of some columns, which are inside of the picture.
  private func withPointers(
    _ columns: Range<Int>, _ depths: inout MutableSpan<Double>,
    _ surfaces: inout MutableSpan<Int32>,
    _ body: (UnsafePointer<Double>, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Int32>)
      -> Void
  ) {
    let columns = columns.clamped(to: 0..<camera.width)
    guard !columns.isEmpty else { return }
    depths.withUnsafeMutableBufferPointer { depths in
      surfaces.withUnsafeMutableBufferPointer { surfaces in
        directions.withUnsafeBufferPointer { directions in
          guard let x = directions.baseAddress, let depths = depths.baseAddress,
            let surfaces = surfaces.baseAddress
          else { return }
          let first = columns.lowerBound
          body(x + first, depths + first, surfaces + first)
        }
      }
    }
  }

  // MARK: - Blocks

  private func cast(
    _ block: PreparedBlock, _ v: Int, y: Double, _ depths: inout MutableSpan<Double>,
    _ surfaces: inout MutableSpan<Int32>
  ) {
    let start = block.turn.y * y + block.turn.z
    let columns = block.pixels.columns
    var first = columns.upperBound
    var end = columns.lowerBound
    // The certain pixels of up to three faces, from left to right.
    var certain = InlineArray<3, (columns: Range<Int>, outline: Int)>(repeating: (0..<0, 0))
    var count = 0
    for index in block.faces {
      let outline = outlines[index]
      let possible = outline.possibleColumns(v, of: columns)
      guard !possible.isEmpty else { continue }
      first = min(first, possible.lowerBound)
      end = max(end, possible.upperBound)
      let sure = outline.certainColumns(v, of: columns)
      guard !sure.isEmpty, count < 3 else { continue }
      var place = count
      while place > 0, certain[place - 1].columns.lowerBound > sure.lowerBound {
        certain[place] = certain[place - 1]
        place -= 1
      }
      certain[place] = (sure, index)
      count += 1
    }
    var u = first
    for index in 0..<count {
      let run = certain[index]
      test(block, u..<max(u, run.columns.lowerBound), start, &depths, &surfaces)
      fill(run.columns, with: block, outlines[run.outline], start, &depths, &surfaces)
      u = max(u, run.columns.upperBound)
    }
    test(block, u..<max(u, end), start, &depths, &surfaces)
  }

  /// Pixels that show one face, unless something nearer hides it.
  private func fill(
    _ columns: Range<Int>, with block: PreparedBlock, _ outline: FaceOutline, _ start: Vector3,
    _ depths: inout MutableSpan<Double>, _ surfaces: inout MutableSpan<Int32>
  ) {
    let axis = outline.face / 2
    withPointers(columns, &depths, &surfaces) { x, depths, surfaces in
      scanmill_render_face(
        isWide, x, Int64(columns.count), outline.plane, block.turn.x[axis], start[axis],
        block.firstSurface &+ Int32(truncatingIfNeeded: outline.face), depths, surfaces)
    }
  }

  /// Pixels that may show any face or miss the block.
  private func test(
    _ block: PreparedBlock, _ columns: Range<Int>, _ start: Vector3,
    _ depths: inout MutableSpan<Double>, _ surfaces: inout MutableSpan<Int32>
  ) {
    let step = block.turn.x
    let nearer = block.half * -1 - block.origin
    let farther = block.half - block.origin
    var u = columns.lowerBound
    while u < columns.upperBound {
      let x = directions.span[unchecked: u]
      let dx = 1 / (step.x * x + start.x)
      let dy = 1 / (step.y * x + start.y)
      let dz = 1 / (step.z * x + start.z)
      let inX = (dx < 0 ? farther.x : nearer.x) * dx
      let inY = (dy < 0 ? farther.y : nearer.y) * dy
      let inZ = (dz < 0 ? farther.z : nearer.z) * dz
      let outX = (dx < 0 ? nearer.x : farther.x) * dx
      let outY = (dy < 0 ? nearer.y : farther.y) * dy
      let outZ = (dz < 0 ? nearer.z : farther.z) * dz
      let leaves = min(outX, min(outY, outZ))
      var enters = inX
      var face: Int32 = dx < 0 ? 1 : 0
      if inY > enters {
        enters = inY
        face = dy < 0 ? 3 : 2
      }
      if inZ > enters {
        enters = inZ
        face = dz < 0 ? 5 : 4
      }
      if enters <= leaves, enters > 0, enters < depths[unchecked: u] {
        depths[unchecked: u] = enters
        surfaces[unchecked: u] = block.firstSurface &+ face
      }
      u &+= 1
    }
  }

  // MARK: - Balls

  private func cast(
    _ ball: PreparedBall, y: Double, _ depths: inout MutableSpan<Double>,
    _ surfaces: inout MutableSpan<Int32>
  ) {
    let c = ball.center
    let rest = c.dot(c) - ball.radius * ball.radius
    var u = ball.pixels.columns.lowerBound
    while u < ball.pixels.columns.upperBound {
      let x = directions.span[unchecked: u]
      // |t·d − c|² = r² with d = (x, y, 1).
      let a = x * x + y * y + 1
      let b = x * c.x + y * c.y + c.z
      let discriminant = b * b - a * rest
      if discriminant > 0 {
        let depth = (b - discriminant.squareRoot()) / a
        if depth > 0, depth < depths[unchecked: u] {
          depths[unchecked: u] = depth
          surfaces[unchecked: u] = ball.surface
        }
      }
      u &+= 1
    }
  }
}

/// A rectangle of pixels, possibly empty.
struct PixelRange {
  var columns: Range<Int>
  var rows: Range<Int>
}

extension PixelRange {
  /// The pixels that the convex hull of some points (camera axes, meters) can cover: the whole
  /// picture if a point is behind the camera or close to it.
  init(around points: [Vector3], camera: PinholeCamera) {
    guard points.contains(where: { $0.z > 0 }) else {
      self.init(columns: 0..<0, rows: 0..<0)
      return
    }
    guard points.allSatisfy({ $0.z > 0.05 }) else {
      self.init(columns: 0..<camera.width, rows: 0..<camera.height)
      return
    }
    let u = points.map { camera.fx * $0.x / $0.z + camera.cx }
    let v = points.map { camera.fy * $0.y / $0.z + camera.cy }
    self.init(
      columns: Self.clamp(u, to: camera.width), rows: Self.clamp(v, to: camera.height))
  }

  /// Adds one pixel on either side.
  private static func clamp(_ values: [Double], to count: Int) -> Range<Int> {
    let limit = Double(count)
    let first = max(0, min(limit, (values.min() ?? 0).rounded(.down) - 1))
    let end = max(first, min(limit, (values.max() ?? limit).rounded(.up) + 2))
    return Int(first)..<Int(end)
  }
}

/// The outline of one face of a block in a picture: four lines around its pixels.
///
/// With it the caster knows without a test which pixels of a row surely show the face and which
/// surely do not. Only the pixels close to a line are tested one by one, so that results do not
/// depend on the outline.
struct FaceOutline {
  /// A line of the picture. `across · u + down · v + rest` is the distance of pixel (u, v) from it in
  /// pixels, positive on the side of the face.
  struct Line {
    var across = 0.0
    var down = 0.0
    var rest = 0.0
  }

  /// 0…5: −x, +x, −y, +y, −z, +z in axes of the block.
  let face: Int
  /// Position of the face's plane along its axis, as seen from the camera, meters.
  let plane: Double
  /// Whether pixels inside all lines surely show the face, unless something nearer hides it. False
  /// for a face that is seen exactly from its edge.
  let isCertain: Bool
  private let lines: InlineArray<4, Line>

  /// How far from a line a pixel is certain. Rounding errors of the caster are a million times smaller.
  private static let margin = 0.25
  /// Relative size of what counts as zero.
  private static let tiny = 1e-9

  /// - Parameters:
  ///   - face: 0…5.
  ///   - plane: its position along its axis, as seen from the camera, meters.
  ///   - corners: the block's corners in camera axes; bits 0, 1 and 2 of the index tell the end of
  ///     the x, y and z axis. They may be behind the camera.
  init(face: Int, plane: Double, corners: [Vector3], camera: PinholeCamera) {
    self.face = face
    self.plane = plane
    let axis = face / 2
    let (first, second) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3))
    let base = face % 2 == 1 ? 1 << axis : 0
    let ring = [base, base | first, base | first | second, base | second].map { corners[$0] }
    let center = (ring[0] + ring[2]) / 2
    var isCertain = plane.magnitude > 1e-6
    var lines = InlineArray<4, Line>(repeating: Line())
    for side in 0..<4 {
      // The plane through the camera and one edge; directions to the face have a positive product.
      var normal = ring[side].cross(ring[(side + 1) % 4])
      let length = normal.length
      let facing = normal.dot(center)
      guard length > Self.tiny, facing.magnitude > Self.tiny * length * center.length else {
        // No restriction: distance 0 everywhere.
        isCertain = false
        continue
      }
      if facing < 0 { normal = normal * -1 }
      let across = normal.x / camera.fx
      let down = normal.y / camera.fy
      let steepness = (across * across + down * down).squareRoot()
      if steepness < 1e-6 * length {
        // The line is far outside: all pixels are on the same side.
        lines[side].rest = normal.z > 0 ? .infinity : -.infinity
      } else {
        lines[side] = Line(
          across: across / steepness, down: down / steepness,
          rest: (normal.z - across * camera.cx - down * camera.cy) / steepness)
      }
    }
    self.lines = lines
    self.isCertain = isCertain
  }

  /// The pixels of row `v` that surely show the face.
  func certainColumns(_ v: Int, of columns: Range<Int>) -> Range<Int> {
    guard isCertain else { return columns.lowerBound..<columns.lowerBound }
    return self.columns(v, distance: Self.margin, of: columns)
  }

  /// The pixels of row `v` that may show the face.
  func possibleColumns(_ v: Int, of columns: Range<Int>) -> Range<Int> {
    self.columns(v, distance: -Self.margin, of: columns)
  }

  /// The pixels of row `v` that are at least this far inside of all lines.
  private func columns(_ v: Int, distance: Double, of columns: Range<Int>) -> Range<Int> {
    var first = Double(columns.lowerBound)
    var last = Double(columns.upperBound - 1)
    for side in 0..<4 {
      let line = lines[side]
      let missing = distance - (line.down * Double(v) + line.rest)
      if line.across.magnitude < Self.tiny {
        // Parallel to the row.
        if missing > 0 { return columns.lowerBound..<columns.lowerBound }
      } else if line.across > 0 {
        first = max(first, missing / line.across)
      } else {
        last = min(last, missing / line.across)
      }
    }
    guard first <= last else { return columns.lowerBound..<columns.lowerBound }
    // Within `columns`, so that both are small.
    let start = Int(first.rounded(.up))
    return start..<max(start, Int(last.rounded(.down)) + 1)
  }
}
