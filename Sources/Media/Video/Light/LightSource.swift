import CFFmpeg

/// What the values of a video mean: by its tags, by the settings that override them, and by what is
/// assumed where it states nothing.
public struct LightSource: Hashable, Sendable {
  /// The transfer function (ITU-T H.273); `nil` = Apple Log, which has no number.
  let transfer: Int?
  /// Primaries and matrix (ITU-T H.273).
  let primaries: Int
  let matrix: Int
  let isFullRange: Bool
  /// Names of transfer and primaries, as in `VideoColor`.
  public let transferName: String
  public let primariesName: String
  /// Whether the video does not state its primaries.
  public let assumesPrimaries: Bool
  /// The largest luminance of the pictures, in candela per square meter.
  public private(set) var peak: Double
  public private(set) var peakOrigin: PeakOrigin

  /// Where `peak` comes from.
  public enum PeakOrigin: String, Sendable {
    /// The brightest pixel that the video states (MaxCLL).
    case contentLight = "content-light"
    case masteringDisplay = "mastering-display"
    /// The transfer function has a peak of its own: 1000 cd/m² for HLG (BT.2100), the signal 1 for Apple Log, SDR white
    /// for SDR.
    case transfer
    /// The video states nothing.
    case assumed
  }

  static let pq = 16
  static let hlg = 18
  static let linear = 8
  static let unspecified = 2
  static let bt709 = 1
  static let bt2020 = 9

  /// The peak of HLG: that of the display whose system gamma is 1.2.
  static let peakOfHLG = 1000.0
  /// The peak that is assumed for PQ video without a statement.
  static let peakAssumedOfPQ = 1000.0

  /// `nil` if the video states neither its transfer nor wide primaries, or a transfer without a number.
  /// Wide primaries alone are those of an SDR video, whose transfer is that of BT.709.
  public init?(_ color: VideoColor, matrix: ColorMatrix? = nil, range: ColorRange? = nil) {
    guard let name = color.transfer ?? (color.hasWidePrimaries ? "bt709" : nil) else { return nil }
    let isLog = name == VideoColor.appleLog
    let number = Int(av_color_transfer_from_name(name))
    guard isLog || number > 0 else { return nil }
    transfer = isLog ? nil : number
    transferName = name
    let isHDR = isLog || number == Self.pq || number == Self.hlg
    let stated = color.primaries.map { Int(av_color_primaries_from_name($0)) }.flatMap {
      $0 > 0 ? $0 : nil
    }
    assumesPrimaries = stated == nil
    primaries = stated ?? (isHDR ? Self.bt2020 : Self.bt709)
    primariesName =
      stated == nil ? (isHDR ? "bt2020" : "bt709") : color.primaries ?? "bt709"
    let tagged = color.matrix.map { Int(av_color_space_from_name($0)) }.flatMap {
      $0 >= 0 ? $0 : nil
    }
    self.matrix =
      matrix?.number ?? tagged ?? (isHDR ? Self.bt2020 : (color.assumedMatrix ?? .bt601).number)
    switch (range, color.range) {
    case (.full?, _), (nil, "pc"?): isFullRange = true
    case (.limited?, _), (nil, "tv"?): isFullRange = false
    default: isFullRange = color.assumedRange == .full
    }
    switch transfer {
    case nil: (peak, peakOrigin) = (AppleLog.light(ofSignal: 1) * ToneMapping.white, .transfer)
    case Self.hlg?: (peak, peakOrigin) = (Self.peakOfHLG, .transfer)
    case Self.pq?: (peak, peakOrigin) = (Self.peakAssumedOfPQ, .assumed)
    default: (peak, peakOrigin) = (ToneMapping.white, .transfer)
    }
    if let light = color.contentLight { take(light) }
  }

  /// Whether the peak would be learned from the pictures.
  var isPeakUnknown: Bool { transfer == Self.pq && peakOrigin == .assumed }

  /// Takes the peak that a video with PQ states; other transfers have theirs.
  mutating func take(_ light: ContentLight) {
    guard transfer == Self.pq else { return }
    if let brightest = light.brightestPixel {
      (peak, peakOrigin) = (brightest, .contentLight)
    } else if let mastering = light.masteringPeak {
      (peak, peakOrigin) = (mastering, .masteringDisplay)
    }
  }

  /// What 16-bit pictures of this treatment state of their colors; `nil` for 8-bit pictures.
  public func pngColor(_ treatment: HDRTreatment) -> PNGColor? {
    guard treatment.isWide, let primaries = UInt8(exactly: primaries) else { return nil }
    let number = treatment == .linear16 ? Self.linear : transfer ?? Self.unspecified
    return UInt8(exactly: number).map { PNGColor(primaries: primaries, transfer: $0) }
  }

  /// Adds the peak that the video's first picture states, if the container states none.
  public func completed(by picture: DecodedPicture) -> LightSource {
    guard isPeakUnknown else { return self }
    var completed = self
    completed.take(ContentLight(of: picture.frame))
    return completed
  }
}

extension ColorMatrix {
  /// ITU-T H.273.
  fileprivate var number: Int {
    switch self {
    case .bt601: 6
    case .bt709: 1
    case .fcc: 4
    case .smpte240m: 7
    case .bt2020: 9
    }
  }
}

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
