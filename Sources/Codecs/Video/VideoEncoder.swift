import CFFmpeg
import Geometry
import SystemPackage

/// Writes pictures as a video, for synthetic captures and tests.
///
/// The same pictures and settings give the same bytes with the same FFmpeg: one thread, no dates, no names of
/// encoders. Needs libx264 (libx265 for HEVC) in the system's FFmpeg.
public final class VideoEncoder {
  public struct Settings: Hashable, Sendable {
    public enum Codec: String, CaseIterable, Sendable {
      case h264, hevc
    }

    public enum Container: String, CaseIterable, Sendable {
      case mp4, mov, matroska
      /// A bare stream with start codes; it has no times, no turn.
      case annexB
    }

    public var codec: Codec = .h264
    public var container: Container = .mp4
    /// Ticks per second of the times given with the pictures. Matroska rounds to milliseconds.
    public var timescale = 600
    /// x264's constant rate factor: 0 lossless, 18 hardly visible, 51 worst.
    public var rateFactor = 23
    /// A key picture at least every so many.
    public var keyInterval = 30
    /// How many B pictures in a row; 0 keeps decoding order and display order the same.
    public var bidirectionalPictures = 0
    /// Written into the stream, and used for the conversion; without it BT.601, untagged.
    public var matrix: ColorMatrix?
    /// Written into the stream, and used for the conversion; without it limited, untagged.
    public var range: ColorRange?
    /// The turn of the display matrix: what a player does to the stored pictures.
    public var clockwiseQuarterTurns = 0
    /// The index of an MP4 or QuickTime file before the pictures, not after.
    public var hasIndexFirst = false

    public init() {}
  }

  public let file: FilePath
  public let width: Int
  public let height: Int
  public let settings: Settings
  private let muxer: MuxerBox
  private var lastTicks: Int64?
  private var isFinished = false

  /// Creates `file` for pictures of `width` × `height`, both even.
  public init(
    _ file: FilePath, width: Int, height: Int, settings: Settings = Settings()
  ) throws(VideoError) {
    guard width > 0, height > 0, width % 2 == 0, height % 2 == 0, width <= 16_384,
      height <= 16_384, settings.timescale > 0, settings.timescale <= Int(Int32.max)
    else {
      throw VideoError(
        file: file, what: "no video can be made of \(width)x\(height) pictures",
        remedy: "both sides must be even")
    }
    self.file = file
    self.width = width
    self.height = height
    self.settings = settings
    muxer = try MuxerBox(file, width: width, height: height, settings: settings)
  }

  /// Adds a picture that is shown at `ticks`; each later than the one before.
  public func append(_ image: ColorImage, ticks: Int64) throws(VideoError) {
    guard image.width == width, image.height == height else {
      throw VideoError(
        file: file, what: "a picture of \(image.width)x\(image.height) in a video of \(width)x\(height)")
    }
    guard !isFinished, ticks > lastTicks ?? Int64.min else {
      throw VideoError(file: file, what: "a picture at \(ticks) after one at \(lastTicks ?? 0)")
    }
    lastTicks = ticks
    try muxer.encode(image.rgb, ticks: ticks)
  }

  /// Writes what is held back and the index. Without this call the file has no index, like that of an app
  /// that was killed.
  public func finish() throws(VideoError) {
    guard !isFinished else { return }
    isFinished = true
    try muxer.finish()
  }
}
