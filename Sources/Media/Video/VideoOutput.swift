import CFFmpeg
import SystemPackage

/// The destination of encoded packets: a muxer of libavformat, also for bare streams.
final class VideoOutput {
  private let file: FilePath
  private var format: UnsafeMutablePointer<AVFormatContext>?
  private var filter: UnsafeMutablePointer<AVBSFContext>?
  private let stream: UnsafeMutablePointer<AVStream>

  init(
    _ file: FilePath, _ settings: VideoEncoderSettings,
    _ encoder: UnsafeMutablePointer<AVCodecContext>
  ) throws(VideoError) {
    var format: UnsafeMutablePointer<AVFormatContext>?
    let name =
      switch settings.container {
      case .annexB: settings.codec == .h264 ? "h264" : "hevc"
      case .mp4: "mp4"
      case .mov: "mov"
      case .matroska: "matroska"
      }
    guard file.withPlatformString({ avformat_alloc_output_context2(&format, nil, name, $0) }) >= 0,
      let opened = format,
      let stream = avformat_new_stream(opened, nil),
      avcodec_parameters_from_context(stream.pointee.codecpar, encoder) >= 0
    else {
      avformat_free_context(format)
      throw VideoError(file: file, what: "no memory for a \(name) file")
    }
    opened.pointee.flags |= AVFMT_FLAG_BITEXACT
    stream.pointee.time_base = encoder.pointee.time_base
    if settings.clockwiseQuarterTurns != 0 {
      Self.setTurn(settings.clockwiseQuarterTurns, of: stream, settings)
    }
    self.file = file
    self.format = opened
    self.stream = stream
    do throws(VideoError) {
      filter = try Self.signatureRemover(stream, settings, file)
      try Self.check(
        file.withPlatformString { avio_open(&opened.pointee.pb, $0, AVIO_FLAG_WRITE) }, file,
        "create")
      try Self.check(avformat_write_header(opened, nil), file, "write the header")
    } catch {
      av_bsf_free(&filter)
      avio_closep(&opened.pointee.pb)
      avformat_free_context(opened)
      self.format = nil
      throw error
    }
  }

  deinit {
    av_bsf_free(&filter)
    if let format { avio_closep(&format.pointee.pb) }
    avformat_free_context(format)
  }

  func write(_ packet: UnsafeMutablePointer<AVPacket>, from base: AVRational) throws(VideoError) {
    guard let format, let filter else { return }
    try Self.check(av_bsf_send_packet(filter, packet), file, "write")
    while true {
      let status = av_bsf_receive_packet(filter, packet)
      if status == scanmill_averror_eagain() || status == scanmill_averror_eof() { return }
      try Self.check(status, file, "write")
      packet.pointee.stream_index = stream.pointee.index
      av_packet_rescale_ts(packet, base, stream.pointee.time_base)
      try Self.check(av_interleaved_write_frame(format, packet), file, "write")
    }
  }

  func finish() throws(VideoError) {
    guard let format else { return }
    try Self.check(av_write_trailer(format), file, "write the end")
    try Self.check(avio_closep(&format.pointee.pb), file, "close")
  }

  /// A filter that removes the SEI units (type 6, in HEVC 39) in which encoders write their name
  /// and options.
  private static func signatureRemover(
    _ stream: UnsafeMutablePointer<AVStream>, _ settings: VideoEncoderSettings, _ file: FilePath
  ) throws(VideoError) -> UnsafeMutablePointer<AVBSFContext>? {
    var filter: UnsafeMutablePointer<AVBSFContext>?
    guard let kind = av_bsf_get_by_name("filter_units"), av_bsf_alloc(kind, &filter) >= 0,
      let filter
    else { throw VideoError(file: file, what: "this FFmpeg has no filter_units") }
    av_opt_set(
      filter.pointee.priv_data, "remove_types", settings.codec == .h264 ? "6" : "39", 0)
    avcodec_parameters_copy(filter.pointee.par_in, stream.pointee.codecpar)
    filter.pointee.time_base_in = stream.pointee.time_base
    let status = av_bsf_init(filter)
    guard status >= 0 else {
      var unusable: UnsafeMutablePointer<AVBSFContext>? = filter
      av_bsf_free(&unusable)
      throw VideoError(file: file, what: FFmpegLibrary.text(ofError: status))
    }
    return filter
  }

  private static func setTurn(
    _ turns: Int, of stream: UnsafeMutablePointer<AVStream>, _ settings: VideoEncoderSettings
  ) {
    let bytes = 9 * MemoryLayout<Int32>.size
    guard let data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, bytes) else {
      return
    }
    data.withMemoryRebound(to: Int32.self, capacity: 9) { matrix in
      // The library counts clockwise here and counterclockwise when it reads.
      av_display_rotation_set(matrix, Double(turns * 90))
    }
  }

  private static func check(
    _ status: Int32, _ file: FilePath, _ doing: String
  ) throws(VideoError) {
    guard status < 0 else { return }
    throw VideoError(file: file, what: "cannot \(doing): \(FFmpegLibrary.text(ofError: status))")
  }
}
