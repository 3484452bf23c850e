/// How to encode a video, and what its file states about it.
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
  /// Time base of the pictures, ticks per second.
  public var ticksPerSecond = 600
  /// Constant rate factor, 0 (lossless) … 51.
  public var crf = 20
  /// x264's speed preset.
  var preset = "veryfast"
  /// Largest distance between key frames, in pictures.
  public var keyFrameInterval = 100
  /// Most consecutive B-frames.
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
