import Core

/// Finds where depth jumps: outlines that must match those of the color picture.
public enum DepthEdges {
  /// One flag per pixel: whether the next measured pixel to one side, above or below is farther by
  /// more than 10 mm and a twentieth of this one's depth. Flags mark the nearer surface. Unmeasured
  /// pixels, up to an eighth of the width, may lie between the two, which the nearer surface hides.
  /// Other borders of holes are not marked.
  ///
  /// Cost: two passes.
  public static func find(in depth: DepthImage) -> [Bool] {
    let (width, height) = (depth.width, depth.height)
    let gap = max(4, width / 8)
    var edges = [Bool](repeating: false, count: width * height)
    func isFarther(_ far: UInt16, than near: UInt16) -> Bool {
      far > near && Double(far - near) > 10 + 0.05 * Double(near)
    }
    func walk(from start: Int, count: Int, stride: Int) {
      var last: Int?
      var step = 0
      while step < count {
        let index = start + step * stride
        let here = depth.millimeters[index]
        if here > 0 {
          if let last, index - last <= (gap + 1) * stride {
            let before = depth.millimeters[last]
            if isFarther(here, than: before) { edges[last] = true }
            if isFarther(before, than: here) { edges[index] = true }
          }
          last = index
        }
        step += 1
      }
    }
    for y in 0..<height { walk(from: y * width, count: width, stride: 1) }
    for x in 0..<width { walk(from: x, count: height, stride: width) }
    return edges
  }
}
