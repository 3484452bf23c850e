import CRendering

/// What the loops of `CRendering` need to know.
enum PixelLoops {
  /// Whether this processor has vectors of eight numbers. The results do not depend on it.
  static let hasWide = scanmill_render_has_wide()
  /// Pixels that are computed together: what a row has more than the picture is wide.
  static let group = Int(SCANMILL_RENDER_GROUP)
  private static let planes = Int(SCANMILL_RENDER_PLANES)

  /// Numbers of a row of one plane of a picture: whole lines of the processor's cache, so that no number of
  /// a group lies in two of them.
  static func stride(width: Int) -> Int { (width + group + 15) / 16 * 16 }

  /// Numbers of a row of a picture.
  static func rowLength(width: Int) -> Int { planes * stride(width: width) }

  /// x of the direction of every column, and of those that fill the last group.
  static func directions(_ width: Int, center: Double, pixelSize: Float) -> [Float] {
    let center = Float(center)
    return (0..<width + group).map { (Float($0) - center) * pixelSize }
  }
}

extension scanmill_vector {
  init(_ vector: SIMD3<Float>) {
    self.init(x: vector.x, y: vector.y, z: vector.z)
  }

  /// Without the fourth lane.
  init(_ vector: SIMD4<Float>) {
    self.init(x: vector.x, y: vector.y, z: vector.z)
  }
}
