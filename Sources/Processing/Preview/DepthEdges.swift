import Geometry

/// Where depth jumps: the outlines that must lie on the outlines of the color picture.
public enum DepthEdges {
  /// One flag per pixel: its right or lower neighbor differs by more than `absoluteMillimeters` plus
  /// `relative` of the nearer one, or only one of the two has a value. Cost: one pass.
  public static func find(
    in depth: DepthImage, absoluteMillimeters: Double = 10, relative: Double = 0.05
  ) -> [Bool] {
    var edges = [Bool](repeating: false, count: depth.millimeters.count)
    let (width, height) = (depth.width, depth.height)
    func jumps(_ a: UInt16, _ b: UInt16) -> Bool {
      if a == 0 || b == 0 { return (a == 0) != (b == 0) }
      let (near, far) = (Double(min(a, b)), Double(max(a, b)))
      return far - near > absoluteMillimeters + relative * near
    }
    for y in 0..<height {
      for x in 0..<width {
        let index = y * width + x
        let here = depth.millimeters[index]
        if x + 1 < width, jumps(here, depth.millimeters[index + 1]) { edges[index] = true }
        if y + 1 < height, jumps(here, depth.millimeters[index + width]) { edges[index] = true }
      }
    }
    return edges
  }
}
