/// How a video is to be encoded and what its file says of it.
public struct VideoEncoderSettings: Hashable, Sendable {
  public enum Container: String, Hashable, Sendable {
    /// A bare stream with start codes: no container, no times.
    case annexB
    case mp4
    case mov
    case matroska
  }

  public enum Codec: String, Hashable, Sendable {
    case h264
    case hevc
  }

  public var width: Int
  public var height: Int
  public var container: Container
  public var codec = Codec.h264
  /// Ticks of the times given with each picture.
  public var ticksPerSecond = 600
  /// Constant rate factor, 0 (without loss) … 51.
  public var crf = 20
  /// x264's speed preset.
  public var preset = "veryfast"
  /// A key frame at least every so many pictures.
  public var keyFrameInterval = 100
  /// Up to how many B-frames in a row.
  public var bFrames = 0
  /// `nil`: not tagged, encoded as limited range.
  public var range: ColorRange?
  /// `nil`: not tagged, encoded as BT.601.
  public var matrix: ColorMatrix?
  /// Written as the display matrix of containers that have one.
  public var clockwiseQuarterTurns = 0

  public init(width: Int, height: Int, container: Container) {
    self.width = width
    self.height = height
    self.container = container
  }
}
