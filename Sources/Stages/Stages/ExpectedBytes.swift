import Captures
import Core
import Engine
import Processing

/// The output size of stages that write pictures is that of raw pixels times the share that encoders leave of them. The
/// least share is the best that was measured: only what cannot succeed is rejected by it. The usual one lies in the
/// middle of what recordings and rendered scenes take: color as PNG 17 to 51 %, as JPEG 3 to 8 %; depth 14 to 47 %,
/// aligned 4 to 60 %, confidence 2 to 26 %.
extension ExpectedBytes {
  /// `nil`: their number or their size is not known.
  init?(
    _ pictures: OpenedCapture.Pictures?, _ frames: Frames? = nil, bytesPerPixel: Double,
    least: Double, usual: Double
  ) {
    guard let pictures else { return nil }
    let raw = Double(pictures.width) * Double(pictures.height) * bytesPerPixel
    let frames = frames ?? Frames(least: pictures.count, usual: pictures.count)
    guard raw > 0, raw * Double(pictures.count) < 9e18 else { return nil }
    self.init(
      least: Int64(raw * Double(frames.least) * least),
      usual: Int64(raw * Double(frames.usual) * usual))
  }

  /// How many frames parameters choose.
  struct Frames {
    var least: Int
    var usual: Int

    init(least: Int, usual: Int) { (self.least, self.usual) = (least, usual) }

    init(_ parameters: ParameterValues, of frames: Int) {
      let count = CommonParameters.selected(0..<max(0, frames), parameters).count { _ in true }
      usual = PickParameters.usual(of: count, parameters)
      // Those of pictures that color picks may lack depth, all of them.
      least =
        PickParameters.isFollowed(parameters) ? 0 : PickParameters.least(of: count, parameters)
    }
  }
}

extension OpenedCapture.Pictures {
  fileprivate func shaped(_ shape: PictureShape) -> Self? {
    let size = shape.size(width: width, height: height)
    return Self(count: count, width: size.width, height: size.height)
  }
}

extension DecodeColor {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    guard let color = capture.color else { return nil }
    let isJPEG = parameters[format] == .jpeg
    return ExpectedBytes(
      color.shaped(PictureShapeParameters.own.shape(parameters)),
      ExpectedBytes.Frames(parameters, of: color.count), bytesPerPixel: 3,
      least: isJPEG ? 0.02 : 0.25, usual: isJPEG ? 0.05 : 0.33)
  }
}

extension DecompressDepth {
  /// Frame stores are uncompressed: this is exact except for missing frames.
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    ExpectedBytes(capture.depth, bytesPerPixel: 2, least: 1, usual: 1)
  }
}

extension ExportImages {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    let isConfidence = parameters[stream] == .confidence
    guard let pictures = isConfidence ? capture.confidence : capture.depth else { return nil }
    return ExpectedBytes(
      pictures, ExpectedBytes.Frames(parameters, of: pictures.count),
      bytesPerPixel: isConfidence ? 1 : 2, least: isConfidence ? 0.01 : 0.1,
      usual: isConfidence ? 0.05 : 0.25)
  }
}

extension AlignDepth {
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    guard let depth = capture.depth, parameters[grid] == .color else { return nil }
    return ExpectedBytes(
      capture.color?.shaped(PictureShapeParameters.following.shape(parameters)),
      ExpectedBytes.Frames(parameters, of: depth.count), bytesPerPixel: 2, least: 0.05,
      usual: 0.2)
  }
}

extension MatchIMU {
  /// A sample has a row of its own and one for each frame around it: in recordings 200 to 750 bytes in all.
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    let samples = capture.summary.exports.samples.values.reduce(0, +)
    return samples > 0 ? ExpectedBytes(least: 0, usual: Int64(samples) * 400) : nil
  }
}

extension ExportTables {
  /// Recordings have 50 to 420 bytes per frame.
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    ExpectedBytes(least: 0, usual: Int64(capture.summary.frameCount) * 150)
  }
}
