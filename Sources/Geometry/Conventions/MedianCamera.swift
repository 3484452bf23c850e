/// One camera that stands for the cameras of all frames.
public struct MedianCamera: Hashable, Sendable {
  /// Size of the first camera; each parameter is the median over all.
  public let camera: PinholeCamera
  /// Largest difference between a frame's parameter and its median, pixels.
  public let largestDeviation: Double

  /// `nil` without cameras. Cost: sorts four lists.
  public init?(_ cameras: [PinholeCamera]) {
    guard let first = cameras.first else { return nil }
    let fx = Median.of(cameras.map(\.fx))
    let fy = Median.of(cameras.map(\.fy))
    let cx = Median.of(cameras.map(\.cx))
    let cy = Median.of(cameras.map(\.cy))
    camera = PinholeCamera(
      width: first.width, height: first.height, fx: fx, fy: fy, cx: cx, cy: cy)
    largestDeviation = cameras.reduce(0) { largest, camera in
      max(
        largest, abs(camera.fx - fx), abs(camera.fy - fy), abs(camera.cx - cx), abs(camera.cy - cy))
    }
  }
}
