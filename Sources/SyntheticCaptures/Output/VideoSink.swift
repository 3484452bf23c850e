import Codecs
import Geometry
import SystemPackage

/// A video in the making, with the encoder settings that all families share.
struct VideoSink {
  private let encoder: VideoEncoder
  private let ticksPerSecond: Int

  /// What differs from family to family.
  struct Form {
    var container: VideoEncoderSettings.Container
    /// Of the container's clock.
    var ticksPerSecond = 600
    var bFrames = 0
    var range: ColorRange?
    var matrix: ColorMatrix?
    var clockwiseQuarterTurns = 0
    /// Constant rate factor unless the options have one.
    var quality = 24
    var keyFrameInterval = 100
  }

  init(_ path: FilePath, _ form: Form, camera: PinholeCamera, options: SynthesisOptions) throws {
    var settings = VideoEncoderSettings(
      width: camera.width, height: camera.height, container: form.container)
    settings.ticksPerSecond = form.ticksPerSecond
    settings.bFrames = form.bFrames
    settings.range = form.range
    settings.matrix = form.matrix
    settings.clockwiseQuarterTurns = form.clockwiseQuarterTurns
    settings.crf = options.quality ?? form.quality
    settings.keyFrameInterval = form.keyFrameInterval
    ticksPerSecond = form.ticksPerSecond
    encoder = try VideoEncoder(path, settings)
  }

  /// Appends a picture that is shown at a time of the container's clock; times must rise.
  func append(_ picture: ColorImage, ticks: Int64) throws {
    try encoder.append(picture, ticks: ticks)
  }

  func finish() throws {
    try encoder.finish()
  }
}
