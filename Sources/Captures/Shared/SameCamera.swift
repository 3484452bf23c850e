import Media
import Core

extension DepthCalibration {
  /// Depth taken by the color camera on a coarser grid: color pixel + ½ = (depth pixel + ½) · scale,
  /// the scale being the ratio of the sizes. No lens distortion is known.
  ///
  /// - Parameters:
  ///   - intrinsics: of any frame, in pixels of the stored picture; between such pictures only the
  ///     sizes matter, so one frame's stand for all.
  ///   - track: the color video; without it the camera's picture size is unknown.
  static func sameCamera(
    intrinsics: (fx: Double, fy: Double, cx: Double, cy: Double)?, _ track: VideoTrack?
  ) -> DepthCalibration {
    sameCamera(intrinsics: intrinsics, stored: track.map { ($0.storedWidth, $0.storedHeight) })
  }

  /// Compares the camera with pictures of one file each, by their stored size.
  static func sameCamera(
    intrinsics: (fx: Double, fy: Double, cx: Double, cy: Double)?,
    stored: (width: Int, height: Int)?
  ) -> DepthCalibration {
    var color: PinholeCamera?
    if let intrinsics, let stored, stored.width > 0, stored.height > 0 {
      color = PinholeCamera(
        width: stored.width, height: stored.height, fx: intrinsics.fx, fy: intrinsics.fy,
        cx: intrinsics.cx, cy: intrinsics.cy)
    }
    return DepthCalibration(registered: true, colorFromDepth: .identity, colorIntrinsics: color)
  }
}
