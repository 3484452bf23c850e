import Geometry

extension ColorImage {
  /// The picture as it is meant to be seen, for the EXIF Orientation `orientation`: 1 as stored, 2 mirrored
  /// left to right, 3 turned by 180°, 4 mirrored top to bottom, 5 mirrored at the falling diagonal,
  /// 6 turned 90° clockwise, 7 mirrored at the rising diagonal, 8 turned 90° counterclockwise. Any other
  /// value is taken for 1.
  public func upright(orientation: Int) -> ColorImage {
    guard (2...8).contains(orientation), width > 0, height > 0 else { return self }
    let swapsSides = orientation >= 5
    var result = ColorImage(
      width: swapsSides ? height : width, height: swapsSides ? width : height)
    // Where in the stored picture the seen one's first pixel is, and the steps to the right and down.
    let last = (x: width - 1, y: (height - 1) * width)
    let (first, right, down): (Int, Int, Int) =
      switch orientation {
      case 2: (last.x, -1, width)
      case 3: (last.x + last.y, -1, -width)
      case 4: (last.y, 1, -width)
      case 5: (0, width, 1)
      case 6: (last.y, -width, 1)
      case 7: (last.x + last.y, -width, -1)
      default: (last.x, width, -1)
      }
    let (resultWidth, resultHeight) = (result.width, result.height)
    rgb.withUnsafeBufferPointer { source in
      result.rgb.withUnsafeMutableBufferPointer { target in
        guard let source = source.baseAddress, let target = target.baseAddress else { return }
        var out = target
        for y in 0..<resultHeight {
          var place = first &+ y &* down
          for _ in 0..<resultWidth {
            out[0] = source[3 &* place]
            out[1] = source[3 &* place &+ 1]
            out[2] = source[3 &* place &+ 2]
            out += 3
            place &+= right
          }
        }
      }
    }
    return result
  }
}
