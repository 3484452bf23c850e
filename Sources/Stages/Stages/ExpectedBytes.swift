import Captures
import Core
import Engine
import Processing

/// Estimates the output size of stages that write pictures: raw pixels times the best compression
/// measured for the encoder (PNG `fast` of a clean synthetic scene: 30 %, noisy video 60 to 70 %;
/// JPEG 3 to 8 %; depth PNG 10 to 35 %). It is a lower estimate, so that a job is rejected only
/// when it cannot succeed.
enum ExpectedBytes {
  static func pictures(
    _ count: Int?, _ width: Int?, _ height: Int?, bytesPerPixel: Double, share: Double
  ) -> Int64? {
    guard let count, let width, let height, count > 0, width > 0, height > 0 else { return nil }
    let bytes = Double(count) * Double(width) * Double(height) * bytesPerPixel * share
    return bytes < 9e18 ? Int64(bytes) : nil
  }

  /// The size of shaped pictures; `nil` if theirs is unknown.
  static func shaped(
    _ width: Int?, _ height: Int?, _ shape: PictureShape
  ) -> (width: Int, height: Int)? {
    guard let width, let height, width > 0, height > 0 else { return nil }
    return shape.size(width: width, height: height)
  }

  /// How many of `frames` the parameters choose at least.
  static func selected(_ parameters: ParameterValues, of frames: Int?) -> Int {
    let count = CommonParameters.selected(0..<max(0, frames ?? 0), parameters).count { _ in true }
    return PickParameters.least(of: count, parameters)
  }
}

extension DecodeColor {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: Capture
  ) -> Int64? {
    guard let stream = capture.color.value?.description else { return nil }
    let count = ExpectedBytes.selected(parameters, of: stream.frames)
    let isJPEG = parameters[format] == .jpeg
    let size = ExpectedBytes.shaped(
      stream.width, stream.height, PictureShapeParameters.own.shape(parameters))
    return ExpectedBytes.pictures(
      count, size?.width, size?.height, bytesPerPixel: 3, share: isJPEG ? 0.02 : 0.25)
  }
}

extension DecompressDepth {
  /// Frame stores are uncompressed: this is exact except for missing frames.
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: Capture
  ) -> Int64? {
    guard let stream = capture.depth.value else { return nil }
    return ExpectedBytes.pictures(
      stream.description.frames, stream.width, stream.height, bytesPerPixel: 2, share: 1)
  }
}

extension ExportImages {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: Capture
  ) -> Int64? {
    if parameters[stream] == .confidence {
      guard let stream = capture.confidence.value else { return nil }
      return ExpectedBytes.pictures(
        ExpectedBytes.selected(parameters, of: stream.description.frames), stream.width,
        stream.height, bytesPerPixel: 1, share: 0.01)
    }
    guard let stream = capture.depth.value else { return nil }
    return ExpectedBytes.pictures(
      ExpectedBytes.selected(parameters, of: stream.description.frames), stream.width,
      stream.height, bytesPerPixel: 2, share: 0.1)
  }
}

extension AlignDepth {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: Capture
  ) -> Int64? {
    guard let depth = capture.depth.value, parameters[grid] == .color,
      !PickParameters.isFollowed(parameters)
    else { return nil }
    let color = capture.color.value?.description
    let size = ExpectedBytes.shaped(
      color?.width, color?.height,
      PictureShapeParameters.following.shape(parameters))
    return ExpectedBytes.pictures(
      ExpectedBytes.selected(parameters, of: depth.description.frames), size?.width, size?.height,
      bytesPerPixel: 2, share: 0.05)
  }
}
