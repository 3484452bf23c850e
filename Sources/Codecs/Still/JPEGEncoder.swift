import CFFmpeg

/// libavcodec's JPEG encoder for pictures of one size.
final class JPEGEncoder {
  let width: Int
  let height: Int
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var scaler: OpaquePointer?

  init(width: Int, height: Int, quality: Int, chroma: JPEGWriter.Chroma) throws(ImageError) {
    FFmpegLibrary.silence()
    self.width = width
    self.height = height
    context = avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_MJPEG))
    frame = av_frame_alloc()
    packet = av_packet_alloc()
    guard let context, let frame, packet != nil else {
      throw ImageError(what: "no memory for a JPEG encoder")
    }
    let format = chroma == .halved ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUVJ444P
    context.pointee.width = Int32(width)
    context.pointee.height = Int32(height)
    context.pointee.pix_fmt = format
    context.pointee.color_range = AVCOL_RANGE_JPEG
    context.pointee.time_base = AVRational(num: 1, den: 1)
    context.pointee.thread_count = 1
    context.pointee.flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT
    // The encoder multiplies its tables by the scale and divides by 8.
    context.pointee.qmin = 8
    context.pointee.qmax = 8
    context.pointee.global_quality = 8 * FF_QP2LAMBDA
    // The first entry, that of the mean of a block, is always 8: a step of one level.
    context.pointee.intra_matrix = Self.memory(
      JPEGTables.scaled(JPEGTables.luma, quality: quality))
    context.pointee.chroma_intra_matrix = Self.memory(
      JPEGTables.scaled(JPEGTables.chroma, quality: quality))
    try Self.check(avcodec_open2(context, nil, nil), "the JPEG encoder cannot be opened")

    frame.pointee.width = Int32(width)
    frame.pointee.height = Int32(height)
    frame.pointee.format = format.rawValue
    frame.pointee.color_range = AVCOL_RANGE_JPEG
    frame.pointee.quality = context.pointee.global_quality
    try Self.check(av_frame_get_buffer(frame, 0), "no memory for the picture")
    scaler = sws_getContext(
      Int32(width), Int32(height), AV_PIX_FMT_RGB24, Int32(width), Int32(height), format,
      SWS_BILINEAR | SWS_ACCURATE_RND, nil, nil, nil)
    guard scaler != nil else { throw ImageError(what: "RGB cannot be converted for JPEG") }
  }

  deinit {
    avcodec_free_context(&context)
    av_frame_free(&frame)
    av_packet_free(&packet)
    sws_freeContext(scaler)
  }

  func encode(_ rgb: [UInt8]) throws(ImageError) -> [UInt8] {
    guard let context, let frame, let packet, let scaler else { return [] }
    try Self.check(av_frame_make_writable(frame), "no memory for the picture")
    let status = rgb.withUnsafeBufferPointer { rgb in
      let planes: [UnsafePointer<UInt8>?] = [rgb.baseAddress]
      let target = frame.pointee.data
      let strides = frame.pointee.linesize
      return sws_scale(
        scaler, planes, [Int32(width * 3)], 0, Int32(height),
        [target.0, target.1, target.2, nil], [strides.0, strides.1, strides.2, 0])
    }
    try Self.check(status, "RGB cannot be converted for JPEG")
    try Self.check(avcodec_send_frame(context, frame), "the picture cannot be encoded")
    try Self.check(avcodec_receive_packet(context, packet), "the picture cannot be encoded")
    defer { av_packet_unref(packet) }
    return [UInt8](
      UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
  }

  private static func check(_ status: Int32, _ what: String) throws(ImageError) {
    guard status >= 0 else {
      throw ImageError(what: "\(what): \(FFmpegLibrary.text(ofError: status))")
    }
  }

  /// A table in memory that the context frees.
  private static func memory(_ table: [UInt16]) -> UnsafeMutablePointer<UInt16>? {
    guard let memory = av_malloc(table.count * MemoryLayout<UInt16>.stride) else { return nil }
    UnsafeMutableRawBufferPointer(start: memory, count: table.count * MemoryLayout<UInt16>.stride)
      .copyBytes(from: table.withUnsafeBytes { Array($0) })
    return memory.assumingMemoryBound(to: UInt16.self)
  }
}

/// The quantization tables of ITU-T T.81, annex K.1, row by row.
enum JPEGTables {
  static let luma: [UInt16] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55,
    14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
  ]
  static let chroma: [UInt16] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
    24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
  ]

  /// A table for a quality 1…100, as in libjpeg's `jpeg_quality_scaling`.
  static func scaled(_ table: [UInt16], quality: Int) -> [UInt16] {
    let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
    return table.map { UInt16(min(max((Int($0) * percent + 50) / 100, 1), 255)) }
  }
}
