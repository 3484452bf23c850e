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

/// The median of a list of numbers.
public enum Median {
  /// The median; for an even count the mean of the middle two, for an empty list 0.
  public static func of(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    guard sorted.count % 2 == 0 else { return sorted[middle] }
    // Equal values are returned as they are: their sum could overflow.
    return sorted[middle - 1] == sorted[middle]
      ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2
  }
}
