import Media
import Core
import SystemPackage

/// Writes a video with the encoder settings that all families share.
///
/// Pictures are encoded on a thread of their own while the next ones are rendered. The bytes do not
/// depend on that.
struct VideoSink {
  private let encoding: BackgroundEncoding

  /// Settings that differ between families.
  struct Form {
    var container: VideoEncoderSettings.Container
    var codec = VideoEncoderSettings.Codec.h264
    /// Time base of the container.
    var ticksPerSecond = 600
    var bFrames = 0
    var range: ColorRange?
    var matrix: ColorMatrix?
    var clockwiseQuarterTurns = 0
    /// Constant rate factor if the options have none.
    var quality = 24
    var keyFrameInterval = 100
  }

  init(_ path: FilePath, _ form: Form, camera: PinholeCamera, options: SynthesisOptions) throws {
    var settings = VideoEncoderSettings(
      width: camera.width, height: camera.height, container: form.container)
    settings.codec = form.codec
    settings.ticksPerSecond = form.ticksPerSecond
    settings.bFrames = form.bFrames
    settings.range = form.range
    settings.matrix = form.matrix
    settings.clockwiseQuarterTurns = form.clockwiseQuarterTurns
    settings.crf = options.quality ?? form.quality
    settings.keyFrameInterval = form.keyFrameInterval
    encoding = BackgroundEncoding(try VideoEncoder(path, settings))
  }

  /// Appends a picture with its time in the container's time base; times must increase. Throws the
  /// error of an earlier picture, if there was one.
  func append(_ picture: ColorImage, ticks: Int64) throws {
    try encoding.append(picture, ticks: ticks)
  }

  /// The pixels of a picture that is encoded, to render another one into; `nil` if there is none.
  func spare() -> [UInt8]? { encoding.spare() }

  /// Encodes what is waiting and completes the file.
  func finish() throws {
    try encoding.finish()
  }
}
