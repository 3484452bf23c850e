import CFFmpeg
import Storage
import SystemPackage

/// A video container opened through libavformat.
final class ContainerReader {
  let input: MediaInput
  let layout: MovieLayout
  private var io: UnsafeMutablePointer<AVIOContext>?
  private var format: UnsafeMutablePointer<AVFormatContext>?

  /// Kinds that name no other file: no playlists, no sequences of pictures.
  private static let kinds =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,h264,hevc,avi,mpegts,mpeg,m4v,ivf,obu"

  /// Reads the header of `input`. `isForced` names the kind instead of finding it out.
  init(_ input: MediaInput, kind: String? = nil) throws(VideoError) {
    FFmpegLibrary.silence()
    self.input = input
    layout = try MovieLayout(input)
    if layout.isMovie { try MovieValidator.check(input) }
    let io = input.makeContext()
    var format = avformat_alloc_context()
    guard let io, let opened = format else {
      avformat_free_context(format)
      Self.free(io)
      throw VideoError(file: input.file, what: "no memory to open it")
    }
    opened.pointee.pb = io
    // Of the kinds without an index of ours to look at.
    opened.pointee.max_streams = Int32(clamping: InputLimits.tracksOfMovie.most)
    opened.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    opened.pointee.format_whitelist = av_strdup(Self.kinds)
    opened.pointee.protocol_whitelist = av_strdup("none")
    let status = avformat_open_input(&format, nil, kind.flatMap { av_find_input_format($0) }, nil)
    guard status >= 0 else {
      // A failed open has freed the format context, but not the reading one.
      Self.free(io)
      throw layout.explanation(for: input)
        ?? VideoError(
          file: input.file, what: "no video: \(FFmpegLibrary.text(ofError: status))",
          remedy: "check that it is a complete MP4, QuickTime, Matroska or H.264 file")
    }
    self.io = io
    self.format = format
  }

  deinit {
    avformat_close_input(&format)
    Self.free(io)
  }

  private static func free(_ io: UnsafeMutablePointer<AVIOContext>?) {
    guard let io else { return }
    av_free(io.pointee.buffer)
    var context: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&context)
  }

  /// The positions of all video tracks; covers and thumbnails do not count.
  var videoTracks: [Int] {
    (0..<streamCount).filter { number in
      guard let stream = stream(number), let codec = stream.pointee.codecpar else { return false }
      return codec.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }
  }

  func stream(_ number: Int) -> UnsafeMutablePointer<AVStream>? {
    guard number >= 0, number < streamCount else { return nil }
    return format?.pointee.streams[number]
  }

  private var streamCount: Int { Int(format?.pointee.nb_streams ?? 0) }

  /// Lets the packets of one track through and leaves all others in the file.
  func select(_ track: Int) {
    for number in 0..<streamCount {
      stream(number)?.pointee.discard = number == track ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads and decodes the first packets, as the ffmpeg program does, to learn what the header does not
  /// say: the reordering delay, parameter sets.
  func analyze() {
    _ = avformat_find_stream_info(format, nil)
  }

  /// Reads packets without looking into them; see `MediaInput.isHollow`.
  func skipPayload() {
    if layout.isMovie { format?.pointee.flags |= AVFMT_FLAG_NOPARSE }
    input.isHollow = layout.isMovie && layout.hasIndex && !layout.isFragmented
  }

  /// `count` bytes of a packet from `offset` on, or fewer; from the file where payload is skipped.
  func bytes(of packet: UnsafePointer<AVPacket>, at offset: Int, count: Int) -> [UInt8] {
    let size = Int(packet.pointee.size)
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let count = min(count, size - offset)
    guard input.isHollow else {
      guard let data = packet.pointee.data else { return [] }
      return [UInt8](UnsafeBufferPointer(start: data + offset, count: count))
    }
    guard packet.pointee.pos >= 0 else { return [] }
    return (try? input.bytes(at: packet.pointee.pos + Int64(offset), count: count)) ?? []
  }

  /// The next packet of any selected track; false at the end and where reading fails, which the ffmpeg
  /// program takes for the end, too.
  func next(into packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    while true {
      let status = av_read_frame(format, packet)
      if status == scanmill_averror_eagain() { continue }
      return status >= 0
    }
  }
}
