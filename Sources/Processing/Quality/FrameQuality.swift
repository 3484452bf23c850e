/// What is known of the quality of one frame; `nil` where it cannot be known.
public struct FrameQuality: Hashable, Sendable {
  public var picture: PictureMeasure?
  /// Sharpness divided by the median of the frames around it.
  public var relativeSharpness: Double?
  /// Whether most of the pictures that it was compared with show something.
  var hasDetailAround = false
  /// By how many pixels the turning camera smeared the picture while it was exposed.
  public var blurPixels: Double?
  /// Share of depth pixels that are measured, 0…1.
  public var depthShare: Double?
  /// Median of the stored confidence values.
  public var confidence: Int?
  /// Whether depth, poses and cameras are there to compare it with the frame before.
  public var comparesDepth = false
  /// Depth compared with that of the frame before it; `nil` also where the two do not see the same.
  public var agreement: DepthAgreement.Result?
  /// How far the camera turned since the frame before, by the poses: degrees.
  public var poseDegrees: Double?
  /// How far the camera turned since the frame before, by the gyroscope: degrees.
  public var gyroscopeDegrees: Double?
  /// The earlier frame that shows the same picture.
  public var duplicateOf: Int?

  public init() {}

  /// By how much poses and gyroscope disagree about the rotation since the frame before: degrees.
  var rotationDifferenceDegrees: Double? {
    guard let poseDegrees, let gyroscopeDegrees else { return nil }
    return abs(poseDegrees - gyroscopeDegrees)
  }
}
