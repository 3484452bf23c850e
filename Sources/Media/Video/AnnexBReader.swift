import CFFmpeg
import SystemPackage

/// The access units of a bare H.264 stream, found by libavcodec's parser, as libavformat does, but without decoding
/// pictures to probe the stream.
///
/// The ffmpeg program decodes up to 5 MB before it opens its decoder and passes the parameter sets
/// on, so that pictures before the first key frame can be decoded. This type finds them without
/// decoding.
final class AnnexBReader: PacketSource {
  /// The first sequence and picture parameter sets of the stream, with start codes; may be empty.
  private(set) var parameterSets: [UInt8] = []

  private let input: MediaInput
  private let parser: UnsafeMutablePointer<AVCodecParserContext>
  /// A context in which the parser stores facts about the stream; the decoder has its own.
  private let context: UnsafeMutablePointer<AVCodecContext>
  private var piece: [UInt8]
  /// The unparsed part of `piece`.
  private var unparsed = 0..<0
  private var offset: Int64 = 0
  private var isFlushed = false
  /// Access units that were read in search of parameter sets, and how many of them were given out.
  private var head: [PacketHandle] = []
  private var given = 0

  private static let pieceBytes = 256 << 10

  /// How many bytes from the start are searched for parameter sets: ffmpeg's default probe size.
  private static let probeBytes = 5_000_000

  init(_ input: MediaInput) throws(VideoError) {
    FFmpegLibraries.silence()
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
    var bytes = 0
    while bytes < Self.probeBytes, parameterSets.isEmpty {
      let handle = try PacketHandle(input.file)
      guard try parse(into: handle.packet) else { break }
      bytes += Int(handle.packet.pointee.size)
      parameterSets = Self.parameterSets(of: handle.packet)
      head.append(handle)
    }
  }

  deinit {
    av_parser_close(parser)
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool {
    guard given < head.count else { return try parse(into: packet) }
    av_packet_move_ref(packet, head[given].packet)
    given += 1
    if given == head.count {
      head = []
      given = 0
    }
    return true
  }

  /// Reads the next access unit of the file; false at the end.
  private func parse(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool {
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
    let filled = try piece.withUnsafeMutableBufferPointer { (piece) throws(VideoError) in
      try input.read(
        at: offset,
        into: UnsafeMutableRawBufferPointer(
          UnsafeMutableBufferPointer(rebasing: piece[..<Self.pieceBytes])))
    }
    // The parser may read a little beyond.
    for index in filled..<min(filled + Int(AV_INPUT_BUFFER_PADDING_SIZE), piece.count) {
      piece[index] = 0
    }
    unparsed = 0..<filled
    offset += Int64(filled)
  }

  /// The parameter sets of an access unit that has both kinds, each with a start code.
  private static func parameterSets(of packet: UnsafeMutablePointer<AVPacket>) -> [UInt8] {
    guard let data = packet.pointee.data else { return [] }
    let unit = [UInt8](UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
    var sets: [UInt8] = []
    var types = Set<UInt8>()
    for range in NALUnits.ranges(in: unit) {
      let type = unit[range.lowerBound] & 0x1f
      guard type == 7 || type == 8 else { continue }
      types.insert(type)
      sets += [0, 0, 0, 1] + unit[range]
    }
    return types.count == 2 ? sets : []
  }
}

/// Owns a packet and frees it.
final class PacketHandle {
  let packet: UnsafeMutablePointer<AVPacket>

  init(_ file: FilePath) throws(VideoError) {
    guard let packet = av_packet_alloc() else {
      throw VideoError(file: file, what: "no memory for a packet")
    }
    self.packet = packet
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
  }
}

// The NAL units of a bare H.264 stream, found by their start codes (ITU-T H.264, annex B).

extension AnnexBReader {
  private static let chunkBytes = 1 << 20

  /// Whether `container` says that a file is a bare stream, or it begins like one: zero bytes, a
  /// one, and the header of a NAL unit that may come first.
  static func isAnnexB(
    _ input: MediaInput, _ container: VideoContainer
  ) throws(VideoError) -> Bool {
    guard container == .any else { return true }
    let head = try input.bytes(at: 0, count: 64)
    guard let one = head.firstIndex(where: { $0 != 0 }), one >= 2, head[one] == 1,
      one + 1 < head.count
    else { return false }
    // Slices, SEI, parameter sets, access unit delimiter. The top bit must be 0.
    let nal = head[one + 1]
    return nal & 0x80 == 0 && [1, 5, 6, 7, 8, 9].contains(nal & 0x1f)
  }

  /// Calls `body` for every NAL unit with the offset of its header and its first bytes, up to
  /// `headBytes`; these may extend beyond the unit's end.
  ///
  /// A unit at the very end of the file without a byte after its header is left out. Cost: reads
  /// the file once, in pieces of a megabyte.
  static func forEachUnit(
    _ input: MediaInput, headerBytes: Int,
    _ body: (_ offset: Int64, _ unit: Slice<UnsafeRawBufferPointer>) -> Void
  ) throws(VideoError) {
    // The last bytes of a piece are put before the next one, for units across the border.
    let carry = headerBytes + 3
    var buffer = [UInt8](repeating: 0xff, count: carry + chunkBytes)
    var offset: Int64 = 0
    var isFirst = true
    while offset < input.byteCount || isFirst {
      let filled = try buffer.withUnsafeMutableBufferPointer { (buffer) throws(VideoError) in
        try input.read(
          at: offset,
          into: UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: buffer[carry...])))
      }
      if filled == 0 { break }
      let start = offset - Int64(carry)
      offset += Int64(filled)
      let isLast = offset >= input.byteCount || filled < chunkBytes
      buffer.withUnsafeBytes { bytes in
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<(carry + filled)])
        // Nothing precedes the first piece; headers near the end of a piece are left for the next.
        scan(piece, from: isFirst ? carry : 0, upTo: isLast ? piece.count - 1 : filled + 3) {
          unitOffset in
          let end = min(piece.count, unitOffset + headerBytes)
          body(start + Int64(unitOffset), piece[unitOffset..<end])
        }
      }
      isFirst = false
      if isLast { break }
      for index in 0..<carry { buffer[index] = buffer[filled + index] }
    }
  }

  /// Finds start codes whose unit header is before `end` and at least three bytes after `first`.
  private static func scan(
    _ bytes: UnsafeRawBufferPointer, from first: Int, upTo end: Int, _ body: (Int) -> Void
  ) {
    guard let base = bytes.baseAddress else { return }
    var i = first
    // Eight bytes at a time as long as none is zero: coded pictures rarely contain zeros.
    while i &+ 3 < end {
      if i &+ 8 <= bytes.count {
        let word = base.loadUnaligned(fromByteOffset: i, as: UInt64.self)
        if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
          i &+= 8
          continue
        }
      }
      let stop = min(i &+ 8, end &- 3)
      while i < stop {
        if bytes[i] == 0, bytes[i &+ 1] == 0, bytes[i &+ 2] == 1 {
          body(i &+ 3)
          i &+= 3
        } else {
          i &+= 1
        }
      }
    }
  }
}
