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
