import Core

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
