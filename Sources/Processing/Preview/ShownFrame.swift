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
    let size = (color?.size ?? aligned?.size)?.within(most)
    self.color = size.flatMap { color?.mean($0) }
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
      self.depth = aligned.nearest(size)
      isAligned = true
    } else {
      self.depth = (depth ?? aligned).map { $0.nearest($0.size.within(most)) }
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
    let jumps = depth.jumps()
    let relief = depth.relief(span: depthPixel)
    let contours = depth.contours(
      step: colors.contourMillimeters, reach: min(8, max(2, depthPixel)))
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

  /// The size that each half of `pair` is reduced to.
  package static let half = (width: 480, height: 480)
  private static let gap = 8

  /// A picture that shows whether depth matches color: color with contours and outlines of depth on the left, depth in
  /// false color on the right, a scale in meters below. `nil` when there is nothing to show.
  ///
  /// It makes a wrong direction of the extrinsics visible: outlines are off the objects by twice the distance of the
  /// cameras. Where color and depth are on different grids, or one is missing, what exists is drawn without overlay. The
  /// scale is below the pictures, so that it hides nothing.
  package func pair(_ colors: FalseColor) -> ColorImage? {
    let halves = [overlay(colors) ?? color, falseColor(colors)].compactMap(\.self)
    guard let left = halves.first else { return nil }
    let width = halves.reduce(0) { $0 + $1.width } + Self.gap * (halves.count - 1)
    let top = halves.map(\.height).max() ?? left.height
    let last = halves[halves.count - 1]
    let scale = depth == nil ? 0 : FalseColor.scaleHeight(width: last.width)
    var picture = ColorImage(width: width, height: top + scale)
    var x = 0
    for half in halves {
      picture.put(half, x: x, y: 0)
      x += half.width + Self.gap
    }
    if scale > 0 {
      if isAligned, halves.count > 1 {
        let factor = max(1, left.width / 320)
        PictureFont.draw(
          colors.contourText, into: &picture, x: 4, y: top + 4 * factor, scale: factor)
      }
      colors.drawScale(into: &picture, x: width - last.width, y: top, width: last.width)
    }
    return picture
  }
}

extension DepthImage {
  /// Where depth jumps: outlines that must match those of the color picture.
  ///
  /// One flag per pixel: whether the next measured pixel to one side, above or below is farther by
  /// more than 10 mm and a twentieth of this one's depth. Flags mark the nearer surface. Unmeasured
  /// pixels, up to an eighth of the width, may lie between the two, which the nearer surface hides.
  /// Other borders of holes are not marked.
  ///
  /// Cost: two passes.
  func jumps() -> [Bool] {
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
        let here = millimeters[index]
        if here > 0 {
          if let last, index - last <= (gap + 1) * stride {
            let before = millimeters[last]
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

  /// Lines of equal depth, as on a map. They show the shape of a surface and where it ends, even where depth does not
  /// jump.
  ///
  /// One flag per pixel: whether a multiple of `step` millimeters lies between it and its right or
  /// lower neighbor. Depth is first smoothed, so that noise does not produce contours: a mean over
  /// `reach` pixels to either side, of measured values within a step. Where depth jumps by more
  /// than a step there is no contour but an edge (`jumps`).
  func contours(step: Int, reach: Int) -> [Bool] {
    let (width, height) = (width, height)
    var lines = [Bool](repeating: false, count: width * height)
    guard step > 0 else { return lines }
    let across = Self.smoothed(millimeters, width, height, stride: 1, reach: reach, step: step)
    let smooth = Self.smoothed(across, width, height, stride: width, reach: reach, step: step)
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

  /// Smallest step of relief in millimeters, and as a fraction of the distance.
  private static let leastReliefMillimeters = 3.0
  private static let leastReliefShare = 0.003
  /// How many times a step of relief must exceed the median unevenness of the picture.
  private static let noiseFactor = 6.0

  /// Low relief: steps too small for a discontinuity, so that alignment bridges them, but that must match the outlines of
  /// the color picture. One flag per pixel: whether depth changes more there than around it.
  ///
  /// Compares the change over one pixel of the depth camera (`span` pixels of this grid to either
  /// side) with the change of the surface around it. Works in 1/Z, in which planes are linear, so
  /// that a slant is not a step. Of the pixels above the threshold, local maxima are kept. Cost:
  /// some nanoseconds per pixel.
  func relief(span: Int) -> [Bool] {
    let span = max(1, span)
    var edges = [Bool](repeating: false, count: millimeters.count)
    guard width > 6 * span || height > 6 * span else { return edges }
    let inverse = millimeters.map { $0 == 0 ? 0 : 1 / Float($0) }
    for stride in [1, width] {
      let (limit, lines) = stride == 1 ? (width, height) : (height, width)
      let lineStride = stride == 1 ? width : 1
      var strengths = [Float](repeating: 0, count: millimeters.count)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          strengths[index] = Self.step(inverse, at: index, stride: stride * span)
        }
      }
      let noise = Float(Self.noiseFactor) * Self.median(strengths)
      let reach = max(1, span / 2)
      for line in 0..<lines {
        for position in 3 * span..<max(3 * span, limit - 3 * span) {
          let index = line * lineStride + position * stride
          let strength = strengths[index]
          let least = max(
            Self.leastReliefMillimeters, Self.leastReliefShare * Double(millimeters[index]))
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
