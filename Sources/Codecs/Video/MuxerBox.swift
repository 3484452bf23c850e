import CFFmpeg
import SystemPackage

/// An encoder and the container it writes into.
final class MuxerBox {
  private let file: FilePath
  private var format: UnsafeMutablePointer<AVFormatContext>?
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var filter: UnsafeMutablePointer<AVBSFContext>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var scaler: OpaquePointer?

  init(
    _ file: FilePath, width: Int, height: Int, settings: VideoEncoder.Settings
  ) throws(VideoError) {
    FFmpegLibrary.silence()
    self.file = file
    frame = av_frame_alloc()
    packet = av_packet_alloc()
    guard let frame, packet != nil else { throw failure("no memory") }
    try openFormat(settings)
    try openEncoder(width: width, height: height, settings)
    try openFilter(settings)
    try openScaler(width: width, height: height, settings)
    frame.pointee.width = Int32(width)
    frame.pointee.height = Int32(height)
    frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    try check(av_frame_get_buffer(frame, 0), "no memory for a picture")
    try writeHeader(settings)
  }

  deinit {
    if let format { avio_closep(&format.pointee.pb) }
    avformat_free_context(format)
    avcodec_free_context(&context)
    av_bsf_free(&filter)
    av_frame_free(&frame)
    av_packet_free(&packet)
    sws_freeContext(scaler)
  }

  func encode(_ rgb: [UInt8], ticks: Int64) throws(VideoError) {
    guard let frame, let scaler else { return }
    try check(av_frame_make_writable(frame), "no memory for a picture")
    let width = frame.pointee.width
    let height = frame.pointee.height
    let target = frame.pointee.data
    let strides = frame.pointee.linesize
    let status = rgb.withUnsafeBufferPointer { rgb in
      let planes: [UnsafePointer<UInt8>?] = [rgb.baseAddress]
      return sws_scale(
        scaler, planes, [width * 3], 0, height, [target.0, target.1, target.2, nil],
        [strides.0, strides.1, strides.2, 0])
    }
    try check(status, "a picture cannot be converted")
    frame.pointee.pts = ticks
    frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
    try send(frame)
  }

  func finish() throws(VideoError) {
    try send(nil)
    guard let format else { return }
    try check(av_write_trailer(format), "the index cannot be written")
    try check(avio_closep(&format.pointee.pb), "the file cannot be closed")
  }

  private func send(_ frame: UnsafeMutablePointer<AVFrame>?) throws(VideoError) {
    guard let context, let packet, let filter else { return }
    try check(avcodec_send_frame(context, frame), "a picture cannot be encoded")
    while avcodec_receive_packet(context, packet) >= 0 {
      try check(av_bsf_send_packet(filter, packet), "a picture cannot be written")
      try writeFiltered()
    }
    if frame == nil {
      try check(av_bsf_send_packet(filter, nil), "the last picture cannot be written")
      try writeFiltered()
    }
  }

  private func writeFiltered() throws(VideoError) {
    guard let format, let context, let packet, let filter, let stream = format.pointee.streams[0]
    else { return }
    while av_bsf_receive_packet(filter, packet) >= 0 {
      av_packet_rescale_ts(packet, context.pointee.time_base, stream.pointee.time_base)
      packet.pointee.stream_index = 0
      try check(av_interleaved_write_frame(format, packet), "the file cannot be written")
    }
  }

  // MARK: - Setting up

  private func openFormat(_ settings: VideoEncoder.Settings) throws(VideoError) {
    let kind =
      switch settings.container {
      case .mp4: "mp4"
      case .mov: "mov"
      case .matroska: "matroska"
      case .annexB: settings.codec == .h264 ? "h264" : "hevc"
      }
    try check(avformat_alloc_output_context2(&format, nil, kind, nil), "no muxer for \(kind)")
    guard let format else { return }
    format.pointee.flags |= AVFMT_FLAG_BITEXACT
    // With the protocol named, no part of the path is taken for one.
    try check(
      avio_open(&format.pointee.pb, "file:\(file.string)", AVIO_FLAG_WRITE),
      "the file cannot be created")
  }

  private func openEncoder(
    width: Int, height: Int, _ settings: VideoEncoder.Settings
  ) throws(VideoError) {
    let name = settings.codec == .h264 ? "libx264" : "libx265"
    guard let encoder = avcodec_find_encoder_by_name(name) else {
      throw failure("this FFmpeg has no \(name)")
    }
    context = avcodec_alloc_context3(encoder)
    guard let context else { throw failure("no memory for an encoder") }
    context.pointee.width = Int32(width)
    context.pointee.height = Int32(height)
    context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
    context.pointee.time_base = AVRational(num: 1, den: Int32(settings.timescale))
    context.pointee.framerate = AVRational(num: 30, den: 1)
    context.pointee.gop_size = Int32(clamping: settings.keyInterval)
    context.pointee.max_b_frames = Int32(clamping: settings.bidirectionalPictures)
    context.pointee.thread_count = 1
    context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    if settings.container != .annexB { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
    if let matrix = settings.matrix { context.pointee.colorspace = matrix.tag }
    if let range = settings.range {
      context.pointee.color_range = range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    av_dict_set(&options, "preset", "veryfast", 0)
    av_dict_set(&options, "crf", "\(settings.rateFactor)", 0)
    // Without its own threads, and without a line on what it is.
    av_dict_set(
      &options, "x265-params", "log-level=none:info=0:pools=none:frame-threads=1:wpp=0", 0)
    try check(avcodec_open2(context, encoder, &options), "\(name) cannot be opened")
  }

  /// x264 names its version and settings in a message (SEI, NAL unit type 6), which is left out.
  private func openFilter(_ settings: VideoEncoder.Settings) throws(VideoError) {
    let name = settings.codec == .h264 ? "filter_units" : "null"
    try check(av_bsf_alloc(av_bsf_get_by_name(name), &filter), "no filter \(name)")
    guard let filter, let context else { return }
    if settings.codec == .h264 { av_opt_set(filter.pointee.priv_data, "remove_types", "6", 0) }
    try check(
      avcodec_parameters_from_context(filter.pointee.par_in, context), "no memory for parameters")
    filter.pointee.time_base_in = context.pointee.time_base
    try check(av_bsf_init(filter), "the filter cannot be opened")
  }

  private func openScaler(
    width: Int, height: Int, _ settings: VideoEncoder.Settings
  ) throws(VideoError) {
    scaler = sws_getContext(
      Int32(width), Int32(height), AV_PIX_FMT_RGB24, Int32(width), Int32(height),
      AV_PIX_FMT_YUV420P, SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nil, nil, nil)
    guard let scaler, let table = sws_getCoefficients(settings.matrix?.scalerTable ?? SWS_CS_ITU601)
    else { throw failure("RGB cannot be converted") }
    sws_setColorspaceDetails(
      scaler, table, 1, table, settings.range == .full ? 1 : 0, 0, 1 << 16, 1 << 16)
  }

  private func writeHeader(_ settings: VideoEncoder.Settings) throws(VideoError) {
    guard let format, let context, let filter, let stream = avformat_new_stream(format, nil) else {
      throw failure("no memory for a track")
    }
    try check(
      avcodec_parameters_copy(stream.pointee.codecpar, filter.pointee.par_out), "no parameters")
    if settings.codec == .hevc, settings.container != .annexB {
      // "hvc1", as phones write it.
      stream.pointee.codecpar.pointee.codec_tag = 0x3163_7668
    }
    stream.pointee.time_base = context.pointee.time_base
    stream.pointee.avg_frame_rate = context.pointee.framerate
    try setTurn(settings.clockwiseQuarterTurns, of: stream)
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    av_dict_set(&options, "video_track_timescale", "\(settings.timescale)", 0)
    if settings.hasIndexFirst { av_dict_set(&options, "movflags", "faststart", 0) }
    try check(avformat_write_header(format, &options), "the header cannot be written")
  }

  /// The display matrix (a, b, u, c, d, v, x, y, w) that turns stored pictures clockwise and moves them
  /// back to the origin.
  private func setTurn(
    _ turns: Int, of stream: UnsafeMutablePointer<AVStream>
  ) throws(VideoError) {
    guard turns % 4 != 0, let context else { return }
    let size = 9 * MemoryLayout<Int32>.stride
    guard let data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size) else {
      throw failure("no memory for a matrix")
    }
    let one: Int32 = 1 << 16
    let width = context.pointee.width << 16
    let height = context.pointee.height << 16
    let matrix: [Int32] =
      switch ((turns % 4) + 4) % 4 {
      case 1: [0, one, 0, -one, 0, 0, height, 0, 1 << 30]
      case 2: [-one, 0, 0, 0, -one, 0, width, height, 1 << 30]
      default: [0, -one, 0, one, 0, 0, 0, width, 1 << 30]
      }
    matrix.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: data, count: size).copyBytes(from: $0) }
  }

  private func check(_ status: Int32, _ what: String) throws(VideoError) {
    guard status >= 0 else {
      throw failure("\(what): \(FFmpegLibrary.text(ofError: status))")
    }
  }

  private func failure(_ what: String) -> VideoError { VideoError(file: file, what: what) }
}

extension ColorMatrix {
  /// How it is named in a stream.
  var tag: AVColorSpace {
    switch self {
    case .bt601: AVCOL_SPC_SMPTE170M
    case .bt709: AVCOL_SPC_BT709
    case .fcc: AVCOL_SPC_FCC
    case .smpte240m: AVCOL_SPC_SMPTE240M
    case .bt2020: AVCOL_SPC_BT2020_NCL
    }
  }

  /// One of FFmpeg's `SWS_CS_…`.
  var scalerTable: Int32 {
    switch self {
    case .bt601: SWS_CS_ITU601
    case .bt709: SWS_CS_ITU709
    case .fcc: SWS_CS_FCC
    case .smpte240m: SWS_CS_SMPTE240M
    case .bt2020: SWS_CS_BT2020
    }
  }
}
