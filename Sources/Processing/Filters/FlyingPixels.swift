import Core

/// Removes measurements that lie in the air between two surfaces.
///
/// At an outline a pixel of a time-of-flight or lidar sensor covers the near and the far surface at
/// once and reports a depth between: a flying (or mixed) pixel. A pixel is removed if, horizontally
/// or vertically, one opposite neighbor is nearer and the other farther, each by more than
/// `absolute + relative · the nearer of the two depths`, the rule by which a mesh is cut. Pixels of
/// slanted surfaces are close to their neighbors, and pixels of thin objects and holes are nearer
/// or farther than both: they stay.
///
/// An axis with a missing neighbor is not tested. If an outline is smeared over several pixels,
/// each is tested against its own neighbors.
public struct FlyingPixels: Hashable, Sendable {
  /// Millimeters.
  var absolute: Double
  /// Fraction of the nearer depth.
  var relative: Double

  /// The defaults are those of the discontinuity rule of alignment.
  public init(absolute: Double = 10, relative: Double = 0.05) {
    self.absolute = absolute
    self.relative = relative
  }

  /// Cost: one pass. Neighbors are read from `stored`, so the order of pixels does not matter.
  func remove(_ stored: DepthImage, from output: inout DepthImage) {
    let width = stored.width
    let z = stored.millimeters
    for y in 0..<stored.height {
      for x in 0..<width {
        let at = y * width + x
        guard z[at] != 0 else { continue }
        let flies =
          x > 0 && x + 1 < width && isBetween(z[at - 1], z[at], z[at + 1])
          || y > 0 && y + 1 < stored.height && isBetween(z[at - width], z[at], z[at + width])
        if flies { output.millimeters[at] = 0 }
      }
    }
  }

  private func isBetween(_ a: UInt16, _ z: UInt16, _ b: UInt16) -> Bool {
    let (near, far) = a < b ? (a, b) : (b, a)
    return near != 0 && near < z && z < far && isStep(near, z) && isStep(z, far)
  }

  private func isStep(_ near: UInt16, _ far: UInt16) -> Bool {
    Double(far - near) > absolute + relative * Double(near)
  }
}
