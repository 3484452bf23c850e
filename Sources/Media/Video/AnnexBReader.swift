import CFFmpeg

/// Splits a bare H.264 stream into access units with libavcodec's parser, as libavformat does, but
/// without decoding pictures to probe the stream.
final class AnnexBReader {
  let input: MediaInput
  private let parser: UnsafeMutablePointer<AVCodecParserContext>
  /// A context in which the parser stores facts about the stream; the decoder has its own.
  private let context: UnsafeMutablePointer<AVCodecContext>
  private var piece: [UInt8]
  /// The unparsed part of `piece`.
  private var unparsed = 0..<0
  private var offset: Int64 = 0
  private var isFlushed = false

  private static let pieceBytes = 256 << 10

  /// How many bytes from the start are searched for parameter sets: ffmpeg's default probe size.
  static let probeBytes = 5_000_000

  init(_ input: MediaInput) throws(VideoError) {
    FFmpegLibrary.silence()
    self.input = input
    let parser = av_parser_init(Int32(bitPattern: AV_CODEC_ID_H264.rawValue))
    let context = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264))
    guard let parser, let context else {
      if let parser { av_parser_close(parser) }
      var unused = context
      avcodec_free_context(&unused)
      throw VideoError(file: input.file, what: "FFmpeg has no parser for H.264")
    }
    self.parser = parser
    self.context = context
    piece = [UInt8](
      repeating: 0, count: Self.pieceBytes + Int(AV_INPUT_BUFFER_PADDING_SIZE))
  }

  deinit {
    av_parser_close(parser)
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// Reads the next access unit; false at the end.
  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool {
    while true {
      if unparsed.isEmpty { try fill() }
      let isAtEnd = unparsed.isEmpty
      if isAtEnd && isFlushed { return false }
      var unit: UnsafeMutablePointer<UInt8>?
      var unitBytes: Int32 = 0
      let first = unparsed.lowerBound
      let count = unparsed.count
      let used = piece.withUnsafeBufferPointer { piece in
        av_parser_parse2(
          parser, context, &unit, &unitBytes, isAtEnd ? nil : piece.baseAddress.map { $0 + first },
          Int32(count), scanmill_nopts(), scanmill_nopts(), -1)
      }
      guard used >= 0 else { return false }
      unparsed = min(first + Int(used), unparsed.upperBound)..<unparsed.upperBound
      if isAtEnd { isFlushed = true }
      guard let unit, unitBytes > 0 else { continue }
      guard av_new_packet(packet, unitBytes) >= 0, let data = packet.pointee.data else {
        throw VideoError(file: input.file, what: "no memory for an access unit")
      }
      data.update(from: unit, count: Int(unitBytes))
      return true
    }
  }

  private func fill() throws(VideoError) {
    let filled: Int
    do {
      filled = try piece.withUnsafeMutableBytes {
        try input.read(
          at: offset, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<Self.pieceBytes]))
      }
    } catch let error as VideoError {
      throw error
    } catch {
      throw VideoError(file: input.file, what: "\(error)")
    }
    // The parser may read a little beyond.
    for index in filled..<min(filled + Int(AV_INPUT_BUFFER_PADDING_SIZE), piece.count) {
      piece[index] = 0
    }
    unparsed = 0..<filled
    offset += Int64(filled)
  }
}

/// Owns a packet and frees it.
final class PacketHandle {
  let packet: UnsafeMutablePointer<AVPacket>

  init?() {
    guard let packet = av_packet_alloc() else { return nil }
    self.packet = packet
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
  }
}
