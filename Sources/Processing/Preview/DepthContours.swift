import Core

/// Finds lines of equal depth, as on a map. They show the shape of a surface and where it ends,
/// even where depth does not jump.
enum DepthContours {
  /// One flag per pixel: whether a multiple of `step` millimeters lies between it and its right or
  /// lower neighbor. Depth is first smoothed, so that noise does not produce contours: a mean over
  /// `reach` pixels to either side, of measured values within a step. Where depth jumps by more
  /// than a step there is no contour but an edge (`DepthEdges`).
  static func find(in depth: DepthImage, step: Int, reach: Int) -> [Bool] {
    let (width, height) = (depth.width, depth.height)
    var lines = [Bool](repeating: false, count: width * height)
    guard step > 0 else { return lines }
    let across = smoothed(depth.millimeters, width, height, stride: 1, reach: reach, step: step)
    let smooth = smoothed(across, width, height, stride: width, reach: reach, step: step)
    let bands = smooth.map { UInt32($0) / UInt32(clamping: step) }
    func isBetween(_ a: Int, _ b: Int) -> Bool {
      bands[a] != bands[b] && smooth[b] > 0 && abs(Int(smooth[a]) - Int(smooth[b])) <= step
    }
    for y in 0..<height {
      for x in 0..<width {
        let index = y * width + x
        if smooth[index] == 0 { continue }
        lines[index] =
          (x + 1 < width && isBetween(index, index + 1))
          || (y + 1 < height && isBetween(index, index + width))
      }
    }
    return lines
  }

  /// Means along rows (`stride` 1) or columns (`stride` = `width`).
  private static func smoothed(
    _ values: [UInt16], _ width: Int, _ height: Int, stride: Int, reach: Int, step: Int
  ) -> [UInt16] {
    guard reach > 0 else { return values }
    var result = values
    let limit = stride == 1 ? width : height
    values.withUnsafeBufferPointer { values in
      for y in 0..<height {
        for x in 0..<width {
          let index = y * width + x
          let here = Int(values[index])
          if here == 0 { continue }
          let place = stride == 1 ? x : y
          var (sum, count): (UInt32, UInt32) = (0, 0)
          for offset in max(-reach, -place)...min(reach, limit - 1 - place) {
            let value = Int(values[index + offset * stride])
            if value > 0, abs(value - here) <= step {
              sum &+= UInt32(truncatingIfNeeded: value)
              count &+= 1
            }
          }
          result[index] = UInt16(truncatingIfNeeded: (2 * sum + count) / (2 * count))
        }
      }
    }
    return result
  }
}
