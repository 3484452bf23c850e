import CFFmpeg
import SystemPackage

/// Writes coded pictures to a container with one track: no dates, no random ids, no program name.
final class VideoMuxer {
  private let path: FilePath
  private let output: MediaOutput
  private let stream: UnsafeMutablePointer<AVStream>
  private var io: UnsafeMutablePointer<AVIOContext>?
  private var format: UnsafeMutablePointer<AVFormatContext>?

  /// Time base of packets, ticks per second.
  static let ticksPerSecond: Int32 = 1_000_000

  /// - Parameters:
  ///   - file: open for writing, empty; the caller closes it.
  ///   - path: the path in errors.
  ///   - container: FFmpeg's name: `mp4`, `matroska`.
  ///   - describe: fills in the codec parameters; a result below 0 is an error.
  init(
    _ file: FileDescriptor, _ path: FilePath, container: String,
    describe: (UnsafeMutablePointer<AVCodecParameters>) -> Int32
  ) throws(VideoError) {
    FFmpegLibraries.silence()
    self.path = path
    output = MediaOutput(file)
    var format: UnsafeMutablePointer<AVFormatContext>?
    guard avformat_alloc_output_context2(&format, nil, container, nil) >= 0, let opened = format,
      let stream = avformat_new_stream(opened, nil), let parameters = stream.pointee.codecpar,
      describe(parameters) >= 0, let io = output.makeContext()
    else {
      avformat_free_context(format)
      throw VideoError(file: path, what: "no memory for a \(container) file")
    }
    self.stream = stream
    self.format = opened
    self.io = io
    opened.pointee.pb = io
    opened.pointee.flags |= AVFMT_FLAG_BITEXACT | AVFMT_FLAG_CUSTOM_IO
    // The container chooses its own codec tag.
    parameters.pointee.codec_tag = 0
    stream.pointee.time_base = AVRational(num: 1, den: Self.ticksPerSecond)
    try check(avformat_write_header(opened, nil), "write the header")
  }

  deinit {
    avformat_free_context(format)
    FFmpegLibraries.free(io)
  }

  /// Writes a packet with times in ticks, in decoding order. Takes ownership of its content.
  func write(_ packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) {
    packet.pointee.stream_index = 0
    packet.pointee.pos = -1
    av_packet_rescale_ts(
      packet, AVRational(num: 1, den: Self.ticksPerSecond), stream.pointee.time_base)
    try check(av_write_frame(format, packet), "write a picture")
  }

  /// Completes the file, which is not valid without this call.
  func finish() throws(VideoError) {
    try check(av_write_trailer(format), "write the end")
    avio_flush(io)
    if let failure = output.failure { throw failed("write the end", "\(failure)") }
  }

  private func check(_ status: Int32, _ doing: String) throws(VideoError) {
    guard status < 0 || output.failure != nil else { return }
    throw failed(
      doing, output.failure.map { "\($0)" } ?? FFmpegLibraries.text(ofError: status))
  }

  private func failed(_ doing: String, _ why: String) -> VideoError {
    VideoError(file: path, what: "cannot \(doing): \(why)")
  }
}

/// A file that FFmpeg writes through this module's functions: to an open descriptor, never by name.
final class MediaOutput {
  private let file: FileDescriptor
  private var position: Int64 = 0
  private var byteCount: Int64 = 0
  /// The error of a failed write, which FFmpeg does not report in detail.
  private(set) var failure: Errno?

  private static let bufferBytes = 1 << 18

  /// `file` must be empty; the caller closes it.
  init(_ file: FileDescriptor) {
    self.file = file
  }

  /// A context for `AVFormatContext.pb`, valid as long as this output; `nil` when out of memory.
  func makeContext() -> UnsafeMutablePointer<AVIOContext>? {
    guard let buffer = av_malloc(Self.bufferBytes) else { return nil }
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferBytes), 1,
      Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, bytes, count in
        guard let opaque, let bytes else { return scanmill_averror_errno(EINVAL) }
        return Unmanaged<MediaOutput>.fromOpaque(opaque).takeUnretainedValue()
          .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      },
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<MediaOutput>.fromOpaque(opaque).takeUnretainedValue()
          .seek(to: offset, whence: whence)
      })
    if context == nil { av_free(buffer) }
    return context
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    do {
      try file.writeAll(toAbsoluteOffset: position, bytes)
    } catch {
      failure = error as? Errno ?? .ioError
      return scanmill_averror_errno(failure?.rawValue ?? EIO)
    }
    position += Int64(bytes.count)
    byteCount = max(byteCount, position)
    return Int32(bytes.count)
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return byteCount
    case SEEK_SET: position = offset
    case SEEK_CUR: position &+= offset
    case SEEK_END: position = byteCount &+ offset
    default: return Int64(scanmill_averror_errno(EINVAL))
    }
    return position
  }
}

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
      try FFmpegLibraries.check(
        file.withPlatformString { avio_open(&opened.pointee.pb, $0, AVIO_FLAG_WRITE) }, file,
        "cannot create")
      try FFmpegLibraries.check(avformat_write_header(opened, nil), file, "cannot write the header")
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
    try FFmpegLibraries.check(av_bsf_send_packet(filter, packet), file, "cannot write")
    while true {
      let status = av_bsf_receive_packet(filter, packet)
      if status == scanmill_averror_eagain() || status == scanmill_averror_eof() { return }
      try FFmpegLibraries.check(status, file, "cannot write")
      packet.pointee.stream_index = stream.pointee.index
      av_packet_rescale_ts(packet, base, stream.pointee.time_base)
      try FFmpegLibraries.check(av_interleaved_write_frame(format, packet), file, "cannot write")
    }
  }

  func finish() throws(VideoError) {
    guard let format else { return }
    try FFmpegLibraries.check(av_write_trailer(format), file, "cannot write the end")
    try FFmpegLibraries.check(avio_closep(&format.pointee.pb), file, "cannot close")
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
      throw VideoError(file: file, what: FFmpegLibraries.text(ofError: status))
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
}
