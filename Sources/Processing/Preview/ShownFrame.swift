import Core

/// One frame for display: color and depth, reduced, and the pictures made of both.
package struct ShownFrame: Sendable {
  package let color: ColorImage?
  /// Depth on the grid of `color` if `isAligned`, else the depth camera's own picture.
  package let depth: DepthImage?
  /// Whether the pixels of `depth` correspond to those of `color`.
  let isAligned: Bool
  /// Width of one pixel of the depth camera in pixels of this grid. A low relief, which is not cut,
  /// rises over that width.
  private let depthPixel: Int

  /// - Parameters:
  ///   - aligned: depth as seen by the color camera, on any grid with the same borders.
  ///   - depth: shown where there is no aligned depth.
  ///   - depthWidth: columns of the depth camera.
  ///   - most: the largest size of each picture.
  package init(
    color: ColorImage?, aligned: DepthImage?, depth: DepthImage? = nil, depthWidth: Int?,
    most: (width: Int, height: Int)
  ) {
    let size = (color.map { ($0.width, $0.height) } ?? aligned.map { ($0.width, $0.height) })
      .map { PictureReduction.size(width: $0.0, height: $0.1, most: most) }
    if let color, let size {
      self.color = PictureReduction.mean(color, width: size.width, height: size.height)
    } else {
      self.color = nil
    }
    // A picture of another shape than the others (a video that changes its size) cannot be matched
    // with depth.
    let fits =
      if let color, let aligned {
        abs(color.width * aligned.height - aligned.width * color.height)
          <= max(color.width * color.height / 100, max(color.width, color.height))
      } else {
        aligned != nil
      }
    if let aligned, fits, let size {
      self.depth = PictureReduction.nearest(aligned, width: size.width, height: size.height)
      isAligned = true
    } else {
      self.depth = (depth ?? aligned).map { picture in
        let own = PictureReduction.size(width: picture.width, height: picture.height, most: most)
        return PictureReduction.nearest(picture, width: own.width, height: own.height)
      }
      isAligned = false
    }
    let columns = max(1, depthWidth ?? 1)
    depthPixel = max(1, ((self.depth?.width ?? 1) + columns - 1) / columns)
  }

  /// Color of outlines where depth jumps.
  static let outline = PixelColor(255, 40, 200)

  /// Color tinted by depth, with contours in full colors and outlines where depth jumps. `nil`
  /// unless both are on one grid.
  package func overlay(_ colors: FalseColor) -> ColorImage? {
    guard isAligned, var picture = color, let depth else { return nil }
    let jumps = DepthEdges.find(in: depth)
    let relief = ReliefEdges.find(in: depth, span: depthPixel)
    let contours = DepthContours.find(
      in: depth, step: colors.contourMillimeters, reach: min(8, max(2, depthPixel)))
    for index in depth.millimeters.indices {
      let value = depth.millimeters[index]
      if jumps[index] || relief[index] {
        picture[pixel: index] = Self.outline
      } else if value > 0 {
        picture[pixel: index] = picture[pixel: index].mixed(
          with: colors.color(ofMillimeters: value), share: contours[index] ? 220 : 56)
      }
    }
    return picture
  }

  /// Depth in false color.
  package func falseColor(_ colors: FalseColor) -> ColorImage? {
    guard let depth else { return nil }
    var picture = ColorImage(width: depth.width, height: depth.height)
    for index in depth.millimeters.indices {
      picture[pixel: index] = colors.color(ofMillimeters: depth.millimeters[index])
    }
    return picture
  }
}

/// Finds where depth jumps: outlines that must match those of the color picture.
enum DepthEdges {
  /// One flag per pixel: whether the next measured pixel to one side, above or below is farther by
  /// more than 10 mm and a twentieth of this one's depth. Flags mark the nearer surface. Unmeasured
  /// pixels, up to an eighth of the width, may lie between the two, which the nearer surface hides.
  /// Other borders of holes are not marked.
  ///
  /// Cost: two passes.
  static func find(in depth: DepthImage) -> [Bool] {
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

/// Finds low relief: steps too small for a discontinuity, so that alignment bridges them, but that
/// must match the outlines of the color picture.
enum ReliefEdges {
  /// Smallest step in millimeters, and as a fraction of the distance.
  private static let leastMillimeters = 3.0
  private static let leastShare = 0.003
  /// How many times a step must exceed the median unevenness of the picture.
  private static let noiseFactor = 6.0

  /// One flag per pixel: whether depth changes more there than around it.
  ///
  /// Compares the change over one pixel of the depth camera (`span` pixels of this grid to either
  /// side) with the change of the surface around it. Works in 1/Z, in which planes are linear, so
  /// that a slant is not a step. Of the pixels above the threshold, local maxima are kept. Cost:
  /// some nanoseconds per pixel.
  static func find(in depth: DepthImage, span: Int) -> [Bool] {
    let (width, height) = (depth.width, depth.height)
    let span = max(1, span)
    var edges = [Bool](repeating: false, count: depth.millimeters.count)
    guard width > 6 * span || height > 6 * span else { return edges }
    let inverse = depth.millimeters.map { $0 == 0 ? 0 : 1 / Float($0) }
    for stride in [1, width] {
      let (limit, lines) = stride == 1 ? (width, height) : (height, width)
      let lineStride = stride == 1 ? width : 1
      var strengths = [Float](repeating: 0, count: depth.millimeters.count)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          strengths[index] = step(inverse, at: index, stride: stride * span)
        }
      }
      let noise = Float(noiseFactor) * median(strengths)
      let reach = max(1, span / 2)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          let strength = strengths[index]
          let least = max(leastMillimeters, leastShare * Double(depth.millimeters[index]))
          guard strength > max(Float(least), noise),
            strength > strengths[index - reach * stride],
            strength > strengths[index + reach * stride]
          else { continue }
          let isPeak = (1...reach).allSatisfy {
            strength >= strengths[index - $0 * stride] && strength >= strengths[index + $0 * stride]
          }
          if isPeak { edges[index] = true }
        }
      }
    }
    return edges
  }

  /// In millimeters, how much more 1/Z changes across `index` than on average around it; 0 where a
  /// value is missing.
  private static func step(_ inverse: [Float], at index: Int, stride: Int) -> Float {
    let here = inverse[index]
    let (a, b) = (inverse[index - stride], inverse[index + stride])
    let (farA, farB) = (inverse[index - 3 * stride], inverse[index + 3 * stride])
    guard here > 0, a > 0, b > 0, farA > 0, farB > 0 else { return 0 }
    return max(0, abs(b - a) - abs(farB - farA) / 3) / (here * here)
  }

  /// Median of a sample of the values above 0.
  private static func median(_ values: [Float]) -> Float {
    Median.upper(stride(from: 0, to: values.count, by: 37).map { values[$0] }.filter { $0 > 0 })
      ?? 0
  }
}
