import CFFmpeg
import Core
import SystemPackage

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

/// Encodes pictures as H.264 or HEVC, for synthetic captures and tests.
///
/// The output depends on the pictures, the settings and the FFmpeg version alone: one thread, no
/// dates, no encoder signature. Must be used by one thread at a time. Memory does not grow with the
/// number of pictures.
public final class VideoEncoder {
  private let file: FilePath
  private let settings: VideoEncoderSettings
  private let codec: CodecContext
  private var scaler: OpaquePointer?
  private var output: VideoOutput?
  private var lastTicks: Int64?
  /// Duration of the last picture: that of the one before.
  private var lastStep: Int64

  /// Whether this FFmpeg can encode `codec`: Debian's can encode both, smaller builds often only H.264.
  public static func canEncode(_ codec: VideoEncoderSettings.Codec) -> Bool {
    FFmpegLibraries.silence()
    return avcodec_find_encoder_by_name(ffmpegName(of: codec)) != nil
  }

  private static func ffmpegName(of codec: VideoEncoderSettings.Codec) -> String {
    codec == .h264 ? "libx264" : "libx265"
  }

  /// Opens the encoder and creates `file`. Sides must be even (4:2:0).
  public init(_ file: FilePath, _ settings: VideoEncoderSettings) throws(VideoError) {
    FFmpegLibraries.silence()
    self.file = file
    self.settings = settings
    lastStep = Int64(max(1, settings.ticksPerSecond / 30))
    guard settings.width > 0, settings.height > 0, settings.width % 2 == 0, settings.height % 2 == 0
    else { throw VideoError(file: file, what: "sides of a 4:2:0 video are even") }
    let name = Self.ffmpegName(of: settings.codec)
    guard let encoder = avcodec_find_encoder_by_name(name) else {
      throw VideoError(file: file, what: "this FFmpeg has no \(name)")
    }
    codec = try CodecContext(encoder, file)
    let (context, frame) = (codec.context, codec.frame)
    try open(encoder, name)
    frame.pointee.format = context.pointee.pix_fmt.rawValue
    frame.pointee.width = context.pointee.width
    frame.pointee.height = context.pointee.height
    frame.pointee.color_range = context.pointee.color_range
    frame.pointee.colorspace = context.pointee.colorspace
    try FFmpegLibraries.check(av_frame_get_buffer(frame, 0), file, "no memory for a picture")
    scaler = try openScaler(context)
    output = try VideoOutput(file, settings, context)
  }

  deinit {
    sws_freeContext(scaler)
  }

  /// Encodes one picture with the time `ticks`, in units of `settings.ticksPerSecond`; ticks must
  /// increase.
  public func append(_ picture: ColorImage, ticks: Int64) throws(VideoError) {
    guard let scaler else { return }
    let (context, frame) = (codec.context, codec.frame)
    guard picture.width == settings.width, picture.height == settings.height else {
      throw VideoError(file: file, what: "a picture of \(picture.width)x\(picture.height)")
    }
    try FFmpegLibraries.check(av_frame_make_writable(frame), file, "no memory for a picture")
    let status = picture.rgb.withUnsafeBufferPointer { rgb in
      let data = frame.pointee.data
      let sizes = frame.pointee.linesize
      return sws_scale(
        scaler, [rgb.baseAddress], [Int32(picture.width * 3)], 0, Int32(picture.height),
        [data.0, data.1, data.2, nil], [sizes.0, sizes.1, sizes.2, 0])
    }
    try FFmpegLibraries.check(status, file, "the picture cannot be converted")
    frame.pointee.pts = ticks
    if let lastTicks { lastStep = max(1, ticks - lastTicks) }
    lastTicks = ticks
    try FFmpegLibraries.check(
      avcodec_send_frame(context, frame), file, "the encoder refuses the picture")
    try drain()
  }

  /// Writes what the encoder still holds and closes the file, which is not valid without this call.
  public func finish() throws(VideoError) {
    try FFmpegLibraries.check(
      avcodec_send_frame(codec.context, nil), file, "the encoder cannot end")
    try drain()
    try output?.finish()
    output = nil
  }

  private func drain() throws(VideoError) {
    let (context, packet) = (codec.context, codec.packet)
    while true {
      let status = avcodec_receive_packet(context, packet)
      if status == scanmill_averror_eagain() || status == scanmill_averror_eof() { return }
      try FFmpegLibraries.check(status, file, "the encoder fails")
      // A last picture without duration would be at the end of the edit list, which would hide it.
      if packet.pointee.duration == 0 { packet.pointee.duration = lastStep }
      try output?.write(packet, from: context.pointee.time_base)
      av_packet_unref(packet)
    }
  }

  private func open(
    _ encoder: UnsafePointer<AVCodec>, _ name: String
  ) throws(VideoError) {
    let context = codec.context
    context.pointee.width = Int32(settings.width)
    context.pointee.height = Int32(settings.height)
    context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
    context.pointee.time_base = AVRational(num: 1, den: Int32(settings.ticksPerSecond))
    context.pointee.gop_size = Int32(settings.keyFrameInterval)
    context.pointee.max_b_frames = Int32(settings.bFrames)
    context.pointee.thread_count = 1
    context.pointee.color_range =
      settings.range.map { $0 == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }
      ?? AVCOL_RANGE_UNSPECIFIED
    context.pointee.colorspace = Self.colorSpace(settings.matrix)
    if settings.container != .annexB {
      context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
    }
    context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    let options = context.pointee.priv_data
    av_opt_set(options, "preset", settings.preset, 0)
    av_opt_set(options, "crf", "\(settings.crf)", 0)
    if settings.codec == .h264 {
      // No look-ahead threads, no scene cuts: key frames follow the interval only.
      av_opt_set(options, "x264-params", "threads=1:sliced-threads=0:sync-lookahead=0", 0)
    } else {
      av_opt_set(options, "x265-params", "pools=none:frame-threads=1:info=0:log-level=none", 0)
    }
    try FFmpegLibraries.check(
      avcodec_open2(context, encoder, nil), file, "\(name) cannot be opened")
  }

  private func openScaler(
    _ context: UnsafeMutablePointer<AVCodecContext>
  ) throws(VideoError) -> OpaquePointer {
    let (width, height) = (context.pointee.width, context.pointee.height)
    let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP | SWS_BITEXACT
    guard
      let scaler = sws_getContext(
        width, height, AV_PIX_FMT_RGB24, width, height, AV_PIX_FMT_YUV420P, flags, nil, nil, nil)
    else { throw VideoError(file: file, what: "no memory for a converter") }
    let matrix = settings.matrix == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601
    let coefficients = sws_getCoefficients(matrix)
    sws_setColorspaceDetails(
      scaler, coefficients, 1, coefficients, settings.range == .full ? 1 : 0, 0, 1 << 16, 1 << 16)
    return scaler
  }

  private static func colorSpace(_ matrix: ColorMatrix?) -> AVColorSpace {
    switch matrix {
    case .bt709: AVCOL_SPC_BT709
    case .bt601: AVCOL_SPC_SMPTE170M
    case .bt2020: AVCOL_SPC_BT2020_NCL
    case .fcc: AVCOL_SPC_FCC
    case .smpte240m: AVCOL_SPC_SMPTE240M
    case nil: AVCOL_SPC_UNSPECIFIED
    }
  }
}
