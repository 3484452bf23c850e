/// Intrinsics of a camera: size and pinhole parameters in pixels.
///
/// Pixel centers are at integers: the center of the top-left pixel is (0, 0) and the picture covers
/// −0.5 … width − 0.5. Axes: x right, y down, z forward.
public struct PinholeCamera: Hashable, Sendable, Codable {
  public var width: Int
  public var height: Int
  public var fx: Double
  public var fy: Double
  public var cx: Double
  public var cy: Double

  public init(width: Int, height: Int, fx: Double, fy: Double, cx: Double, cy: Double) {
    self.width = width
    self.height = height
    self.fx = fx
    self.fy = fy
    self.cx = cx
    self.cy = cy
  }

  /// The camera with pictures of another size, outer borders unchanged (the half-pixel rule): `fx' = fx·sx`, `cx' = (cx
  /// + 0.5)·sx − 0.5`, each axis with its own scale.
  public func scaled(toWidth newWidth: Int, height newHeight: Int) -> PinholeCamera {
    let sx = Double(newWidth) / Double(width)
    let sy = Double(newHeight) / Double(height)
    return PinholeCamera(
      width: newWidth, height: newHeight, fx: fx * sx, fy: fy * sy,
      cx: (cx + 0.5) * sx - 0.5, cy: (cy + 0.5) * sy - 0.5)
  }

  /// The largest distance, along x or y, between the places of one ray in the pictures of two cameras of
  /// one size, pixels: that of a ray at the border.
  public func largestOffset(from other: PinholeCamera) -> Double {
    func offset(_ place: Double, _ f: Double, _ c: Double, _ otherF: Double, _ otherC: Double)
      -> Double
    {
      abs((place - c) / f * otherF + otherC - place)
    }
    return max(
      offset(-0.5, fx, cx, other.fx, other.cx),
      offset(Double(width) - 0.5, fx, cx, other.fx, other.cx),
      offset(-0.5, fy, cy, other.fy, other.cy),
      offset(Double(height) - 0.5, fy, cy, other.fy, other.cy))
  }

  /// The intrinsics of the picture after turning it clockwise by `quarterTurns` × 90°.
  public func turnedClockwise(quarterTurns: Int) -> PinholeCamera {
    let w = Double(width - 1)
    let h = Double(height - 1)
    switch ((quarterTurns % 4) + 4) % 4 {
    case 1: return PinholeCamera(width: height, height: width, fx: fy, fy: fx, cx: h - cy, cy: cx)
    case 2:
      return PinholeCamera(width: width, height: height, fx: fx, fy: fy, cx: w - cx, cy: h - cy)
    case 3: return PinholeCamera(width: height, height: width, fx: fy, fy: fx, cx: cy, cy: w - cx)
    default: return self
    }
  }

  /// This camera for pictures of `width` × `height`: unchanged if that is its size, rescaled by the
  /// half-pixel rule if the aspects agree within 1 %, else `nil`.
  public func fitted(toWidth newWidth: Int, height newHeight: Int) -> PinholeCamera? {
    if (newWidth, newHeight) == (width, height) { return self }
    let sx = Double(newWidth) / Double(width)
    let sy = Double(newHeight) / Double(height)
    guard abs(sx / sy - 1) <= 0.01 else { return nil }
    return scaled(toWidth: newWidth, height: newHeight)
  }
}

/// Width and height of a picture in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  package init(_ camera: PinholeCamera) {
    self.init(width: camera.width, height: camera.height)
  }

  /// The size after a quarter turn.
  public var turned: PictureSize { PictureSize(width: height, height: width) }

  public var description: String { "\(width)×\(height)" }
}
