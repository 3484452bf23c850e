import Core

/// A picture that shows whether depth matches color: color with contours and outlines of depth on
/// the left, depth in false color on the right, a scale in meters below.
///
/// It makes a wrong direction of the extrinsics visible: outlines are off the objects by twice the
/// distance of the cameras.
package enum PreviewPicture {
  /// The size that each half is reduced to.
  package static let half = (width: 480, height: 480)
  private static let gap = 8

  /// Composes the picture; `nil` when there is nothing to show. Where color and depth are on
  /// different grids, or one is missing, what exists is drawn without overlay. The scale is below
  /// the pictures, so that it hides nothing.
  package static func compose(_ frame: ShownFrame, _ colors: FalseColor) -> ColorImage? {
    let halves = [frame.overlay(colors) ?? frame.color, frame.falseColor(colors)].compactMap(\.self)
    guard let left = halves.first else { return nil }
    let width = halves.reduce(0) { $0 + $1.width } + gap * (halves.count - 1)
    let top = halves.map(\.height).max() ?? left.height
    let last = halves[halves.count - 1]
    let scale = frame.depth == nil ? 0 : DepthScale.height(width: last.width)
    var picture = ColorImage(width: width, height: top + scale)
    var x = 0
    for half in halves {
      picture.put(half, x: x, y: 0)
      x += half.width + gap
    }
    if scale > 0 {
      if frame.isAligned, halves.count > 1 {
        let factor = max(1, left.width / 320)
        PictureFont.draw(
          DepthScale.contourText(colors), into: &picture, x: 4, y: top + 4 * factor, scale: factor)
      }
      DepthScale.draw(
        colors, into: &picture, x: width - last.width, y: top, width: last.width)
    }
    return picture
  }
}
