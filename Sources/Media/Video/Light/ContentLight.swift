import CFFmpeg

/// The luminance that a video states of its content and of the display that it was mastered on, in
/// candela per square meter.
public struct ContentLight: Hashable, Sendable {
  /// The brightest pixel of all pictures (MaxCLL, CTA-861.3); `nil` = not stated.
  public var brightestPixel: Double?
  /// The peak of the mastering display (SMPTE ST 2086); `nil` = not stated.
  public var masteringPeak: Double?

  public var isEmpty: Bool { brightestPixel == nil && masteringPeak == nil }

  /// A luminance that PQ can express; 0 means unknown in both kinds of metadata.
  private static func luminance(_ value: Double) -> Double? {
    value > 0 && value <= PerceptualQuantizer.peak ? value : nil
  }
}

extension ContentLight {
  /// What the picture itself states, as its stream does.
  init(of frame: UnsafePointer<AVFrame>) {
    self.init(
      light: av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL).map {
        ($0.pointee.data, Int($0.pointee.size))
      },
      display: av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA).map {
        ($0.pointee.data, Int($0.pointee.size))
      })
  }

  /// What the container states of a track.
  init(of stream: UnsafePointer<AVStream>) {
    func data(_ type: AVPacketSideDataType) -> (UnsafeMutablePointer<UInt8>?, Int)? {
      var size = 0
      return av_stream_get_side_data(stream, type, &size).map { ($0, size) }
    }
    self.init(
      light: data(AV_PKT_DATA_CONTENT_LIGHT_LEVEL),
      display: data(AV_PKT_DATA_MASTERING_DISPLAY_METADATA))
  }

  private init(
    light: (UnsafeMutablePointer<UInt8>?, Int)?, display: (UnsafeMutablePointer<UInt8>?, Int)?
  ) {
    if let (bytes, size) = light, let bytes, size >= MemoryLayout<AVContentLightMetadata>.size {
      let stated = UnsafeRawPointer(bytes).loadUnaligned(as: AVContentLightMetadata.self)
      brightestPixel = Self.luminance(Double(stated.MaxCLL))
    }
    if let (bytes, size) = display, let bytes, size >= MemoryLayout<AVMasteringDisplayMetadata>.size
    {
      let stated = UnsafeRawPointer(bytes).loadUnaligned(as: AVMasteringDisplayMetadata.self)
      if stated.has_luminance != 0, stated.max_luminance.den > 0 {
        masteringPeak = Self.luminance(
          Double(stated.max_luminance.num) / Double(stated.max_luminance.den))
      }
    }
  }
}
