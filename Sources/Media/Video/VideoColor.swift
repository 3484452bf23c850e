import CFFmpeg

/// The color description of a video: what the file states, and what is assumed where it states
/// nothing.
public struct VideoColor: Hashable, Sendable {
  /// Bits of a luma sample; `nil` = unknown.
  public var bitDepth: Int?
  /// FFmpeg's name (`arib-std-b67`, `smpte2084`, `bt709`, …); `nil` = untagged. `apple-log` is
  /// Apple's, for which FFmpeg has no name.
  public var transfer: String?
  public var primaries: String?
  public var matrix: String?
  /// FFmpeg's name: `tv` (limited) or `pc` (full); `nil` = untagged.
  public var range: String?
  /// The matrix that pictures are converted with, as in the ffmpeg program, if their tag is missing
  /// or unknown; `nil` if the tag states it.
  public var assumedMatrix: ColorMatrix?
  public var assumedRange: ColorRange?
  /// Profile and compatibility of Dolby Vision data (`8.4`), which are ignored; `nil` without any.
  public var dolbyVision: String?
  /// What the container states of luminance; `nil` = nothing.
  public var contentLight: ContentLight?

  public init() {}

  /// The transfer function of Apple's logarithmic recordings.
  static let appleLog = "apple-log"

  /// Transfer functions that ordinary screens do not expect: pictures look washed out if displayed
  /// unchanged.
  private static let unusual: Set<String> = [
    "arib-std-b67", "smpte2084", "smpte428", "linear", "log100", "log316", appleLog,
  ]

  /// Whether the transfer is an HDR one, or another that ordinary screens do not expect.
  public var isUnusualTransfer: Bool { transfer.map(Self.unusual.contains) ?? false }

  /// Primaries beyond those of ordinary screens: colors look dull if displayed unchanged.
  private static let wide: Set<String> = ["bt2020", "smpte431", "smpte432"]

  /// Whether the primaries are those of P3 or BT.2020.
  public var hasWidePrimaries: Bool { primaries.map(Self.wide.contains) ?? false }

  /// Whether an ordinary screen needs another form of the pictures.
  public var differsFromSDR: Bool { isUnusualTransfer || hasWidePrimaries }

  /// Takes what the container states beside tags.
  mutating func takeSideData(of stream: UnsafePointer<AVStream>) {
    let light = ContentLight(of: stream)
    contentLight = light.isEmpty ? nil : light
    var size = 0
    if let data = av_stream_get_side_data(stream, AV_PKT_DATA_DOVI_CONF, &size),
      size >= MemoryLayout<AVDOVIDecoderConfigurationRecord>.size
    {
      let stated = UnsafeRawPointer(data).loadUnaligned(as: AVDOVIDecoderConfigurationRecord.self)
      dolbyVision = "\(stated.dv_profile).\(stated.dv_bl_signal_compatibility_id)"
    }
  }

  /// - Parameters:
  ///   - decoded: tags of the decoder's pictures.
  ///   - container: tags of the container, used where the decoder has none.
  ///   - isYUV: whether a matrix is needed at all.
  init(
    bitDepth: Int?, decoded: CodedColor, container: CodedColor, isYUV: Bool,
    isFullByFormat: Bool = false
  ) {
    self.bitDepth = bitDepth
    transfer = Self.name(decoded.transfer, container.transfer) {
      av_color_transfer_name(AVColorTransferCharacteristic(rawValue: $0))
    }
    primaries = Self.name(decoded.primaries, container.primaries) {
      av_color_primaries_name(AVColorPrimaries(rawValue: $0))
    }
    matrix = Self.name(decoded.matrix, container.matrix) {
      av_color_space_name(AVColorSpace(rawValue: $0))
    }
    range = (decoded.isFullRange ?? container.isFullRange).map { $0 ? "pc" : "tv" }
    if isYUV {
      let isKnown = decoded.matrix.map(ColorTags.isKnown(matrix:)) ?? false
      assumedMatrix = isKnown ? nil : .bt601
      if decoded.isFullRange == nil { assumedRange = isFullByFormat ? .full : .limited }
    }
  }

  /// The description of a coded H.264 stream.
  init(_ sequence: H264Sequence, container: CodedColor = CodedColor()) {
    // The decoder keeps the container's values where the stream states none.
    var decoded = container
    if let isFull = sequence.color.isFullRange { decoded.isFullRange = isFull }
    if sequence.color.matrix != nil {
      decoded.primaries = sequence.color.primaries
      decoded.transfer = sequence.color.transfer
      decoded.matrix = sequence.color.matrix
    }
    let isRGB = sequence.chromaFormat == 3 && decoded.matrix == 0
    self.init(
      bitDepth: sequence.bitDepth, decoded: decoded, container: container,
      isYUV: !isRGB && sequence.chromaFormat != 0)
  }

  private static func name(
    _ decoded: Int?, _ container: Int?, _ name: (UInt32) -> UnsafePointer<CChar>?
  ) -> String? {
    for value in [decoded, container] {
      guard let value = value.flatMap(UInt32.init(exactly:)), let text = name(value) else {
        continue
      }
      let found = String(cString: text)
      if found != "unknown", found != "reserved" { return found }
    }
    return nil
  }
}

extension CodedColor {
  /// The tags of a container.
  init(_ parameters: UnsafePointer<AVCodecParameters>) {
    self.init(
      range: parameters.pointee.color_range, parameters.pointee.color_primaries,
      parameters.pointee.color_trc, parameters.pointee.color_space)
  }

  /// The tags of an opened decoder.
  init(_ context: UnsafePointer<AVCodecContext>) {
    self.init(
      range: context.pointee.color_range, context.pointee.color_primaries,
      context.pointee.color_trc, context.pointee.colorspace)
  }

  private init(
    range: AVColorRange, _ primaries: AVColorPrimaries, _ transfer: AVColorTransferCharacteristic,
    _ matrix: AVColorSpace
  ) {
    switch range {
    case AVCOL_RANGE_JPEG: isFullRange = true
    case AVCOL_RANGE_MPEG: isFullRange = false
    default: break
    }
    func known(_ value: UInt32) -> Int? { value == 2 ? nil : Int(value) }
    self.primaries = known(primaries.rawValue)
    self.transfer = known(transfer.rawValue)
    self.matrix = known(matrix.rawValue)
  }
}

extension VideoColor {
  /// The description of a container's track that has not been analyzed. Cost: nothing is decoded
  /// for H.264 and HEVC; the first pictures of other codecs are decoded.
  init(
    of stream: UnsafeMutablePointer<AVStream>, number: Int, in input: MediaInput
  ) throws(VideoError) {
    guard let parameters = stream.pointee.codecpar else {
      self.init()
      return
    }
    let container = CodedColor(parameters)
    if let sequence = SliceHeaderReader(parameters)?.statedSequence {
      self.init(sequence, container: container)
      return
    }
    if parameters.pointee.codec_id == AV_CODEC_ID_HEVC, parameters.pointee.extradata_size > 0 {
      // Opening the decoder parses the parameter sets.
      let codec = try? CodecHandle(stream: stream, reorderingDelay: 0, file: input.file, threads: 1)
      if let codec, codec.context.pointee.pix_fmt != AV_PIX_FMT_NONE {
        self.init(
          CodedColor(codec.context), codec.context.pointee.pix_fmt, container)
        return
      }
    }
    let reader = try ContainerReader(MediaInput(input.file))
    reader.select(number)
    reader.analyze()
    guard let analyzed = reader.stream(number)?.pointee.codecpar else {
      self.init()
      return
    }
    self.init(
      CodedColor(analyzed), AVPixelFormat(rawValue: analyzed.pointee.format), container)
  }

  private init(_ decoded: CodedColor, _ format: AVPixelFormat, _ container: CodedColor) {
    guard let description = av_pix_fmt_desc_get(format) else {
      self.init(bitDepth: nil, decoded: decoded, container: container, isYUV: false)
      return
    }
    let name = String(cString: description.pointee.name)
    let isYUV =
      description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) == 0
      && description.pointee.nb_components >= 3
    self.init(
      bitDepth: Int(description.pointee.comp.0.depth), decoded: decoded, container: container,
      isYUV: isYUV, isFullByFormat: name.hasPrefix("yuvj"))
  }
}
