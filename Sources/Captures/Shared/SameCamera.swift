import Codecs
import Geometry

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
    var color: PinholeCamera?
    if let intrinsics, let track, track.storedWidth > 0, track.storedHeight > 0 {
      color = PinholeCamera(
        width: track.storedWidth, height: track.storedHeight, fx: intrinsics.fx, fy: intrinsics.fy,
        cx: intrinsics.cx, cy: intrinsics.cy)
    }
    return DepthCalibration(registered: true, colorFromDepth: .identity, colorIntrinsics: color)
  }
}
