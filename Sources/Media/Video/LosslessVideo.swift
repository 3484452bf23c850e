import CFFmpeg
import Core
import SystemPackage

/// Encodes RGB pictures without loss (FFV1, version 3), independently of each other: in any order
/// and by many encoders.
///
/// The output depends on the picture and the FFmpeg version alone. Must be used by one thread at a
/// time.
public final class LosslessVideoEncoder: @unchecked Sendable {
  fileprivate let codec: CodecContext
  private let name: FilePath

  /// - Parameter name: the name of the video in errors.
  public init(width: Int, height: Int, name: FilePath) throws(VideoError) {
    FFmpegLibraries.silence()
    self.name = name
    guard let encoder = avcodec_find_encoder(AV_CODEC_ID_FFV1) else {
      throw VideoError(file: name, what: "this FFmpeg has no FFV1")
    }
    codec = try CodecContext(encoder, name)
    let (opened, picture) = (codec.context, codec.frame)
    opened.pointee.width = Int32(clamping: width)
    opened.pointee.height = Int32(clamping: height)
    opened.pointee.pix_fmt = AV_PIX_FMT_BGR0
    opened.pointee.time_base = AVRational(num: 1, den: VideoMuxer.ticksPerSecond)
    opened.pointee.gop_size = 1
    opened.pointee.level = 3
    opened.pointee.thread_count = 1
    // Players decode as many parts in parallel; small pictures have one part.
    opened.pointee.slices = width >= 64 && height >= 64 ? 4 : 1
    opened.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    av_opt_set(opened.pointee.priv_data, "slicecrc", "1", 0)
    picture.pointee.format = AV_PIX_FMT_BGR0.rawValue
    picture.pointee.width = opened.pointee.width
    picture.pointee.height = opened.pointee.height
    var status = avcodec_open2(opened, encoder, nil)
    if status >= 0 { status = av_frame_get_buffer(picture, 0) }
    try FFmpegLibraries.check(status, name, "FFV1 cannot be opened")
  }

  /// The encoded picture.
  public func encode(_ picture: ColorImage) throws(VideoError) -> [UInt8] {
    let (context, frame, packet) = (codec.context, codec.frame, codec.packet)
    let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
    guard picture.width == width, picture.height == height else {
      throw VideoError(
        file: name,
        what: "a picture of \(picture.width)x\(picture.height) in a video of "
          + "\(width)x\(height)")
    }
    try FFmpegLibraries.check(av_frame_make_writable(frame), name, "no memory for a picture")
    guard let target = frame.pointee.data.0 else {
      throw VideoError(file: name, what: "no memory for a picture")
    }
    let lineBytes = Int(frame.pointee.linesize.0)
    picture.rgb.withUnsafeBufferPointer { rgb in
      for y in 0..<height {
        let line = target + y * lineBytes
        for x in 0..<width {
          let source = (y * width + x) * 3
          line[4 * x] = rgb[source + 2]
          line[4 * x + 1] = rgb[source + 1]
          line[4 * x + 2] = rgb[source]
          line[4 * x + 3] = 0
        }
      }
    }
    frame.pointee.pts = 0
    try FFmpegLibraries.check(
      avcodec_send_frame(context, frame), name, "the encoder refuses the picture")
    try FFmpegLibraries.check(avcodec_receive_packet(context, packet), name, "the encoder fails")
    defer { av_packet_unref(packet) }
    guard let data = packet.pointee.data else { return [] }
    return [UInt8](UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
  }
}

/// Writes a Matroska file of pictures that `LosslessVideoEncoder` has encoded.
public final class LosslessVideoFile {
  private let muxer: VideoMuxer
  private let packet: PacketHandle
  private let path: FilePath

  /// - Parameters:
  ///   - file: open for writing, empty; the caller closes it.
  ///   - path: the path in errors.
  public init(
    _ file: FileDescriptor, at path: FilePath, width: Int, height: Int
  ) throws(VideoError) {
    self.path = path
    packet = try PacketHandle(path)
    let encoder = try LosslessVideoEncoder(width: width, height: height, name: path)
    muxer = try VideoMuxer(file, path, container: "matroska") { parameters in
      avcodec_parameters_from_context(parameters, encoder.codec.context)
    }
  }

  /// Appends a picture; times must increase.
  public func append(_ coded: [UInt8], microseconds: Int64) throws(VideoError) {
    let packet = packet.packet
    guard let count = Int32(exactly: coded.count), av_new_packet(packet, count) >= 0,
      let data = packet.pointee.data
    else { throw VideoError(file: path, what: "no memory for a packet") }
    coded.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      data.update(from: base, count: bytes.count)
    }
    packet.pointee.pts = microseconds
    packet.pointee.dts = microseconds
    packet.pointee.flags = AV_PKT_FLAG_KEY
    defer { av_packet_unref(packet) }
    try muxer.write(packet)
  }

  /// Completes the file, which is not valid without this call.
  public func finish() throws(VideoError) { try muxer.finish() }
}
