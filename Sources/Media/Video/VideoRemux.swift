import CFFmpeg
import SystemPackage

/// Copies the coded pictures of a video into a new file. Nothing is decoded.
public enum VideoRemux {
  /// Writes an MP4 file with every picture of a track, in decoding order, each with its display
  /// time.
  ///
  /// - Parameters:
  ///   - file: a container, or a bare H.264 stream.
  ///   - order: that of the same track in `VideoIndex`.
  ///   - microseconds: display time of picture n, in display order; strictly increasing, from 0.
  ///   - output: open for writing, empty; the caller closes it.
  ///   - path: the path of `output`.
  /// - Returns: `false` if the pictures cannot be told apart reliably, or MP4 does not support
  ///   them; what was written must then be discarded.
  /// - Throws: `VideoError` if a file cannot be read or written.
  ///
  /// Cost: reading and writing the coded bytes; memory: one packet, and 8 bytes per picture.
  public static func mp4(
    _ file: FilePath, container: VideoContainer, track: Int, order: PictureOrder,
    microseconds: [Int64], to output: FileDescriptor, at path: FilePath
  ) throws(VideoError) -> Bool {
    guard microseconds.count == order.count, order.count > 0, order.hiddenPackets.isEmpty,
      order.offsets.allSatisfy({ $0 >= 0 }),
      let source = try Source(file, container, track, ignoresEditList: order.ignoresEditList)
    else { return false }
    let muxer = try VideoMuxer(output, path, container: "mp4", describe: source.describe)
    var numbers = PacketNumbers(order, isBare: source.isBare)
    guard let handle = PacketHandle() else {
      throw VideoError(file: file, what: "no memory for a packet")
    }
    let packet = handle.packet
    var count = 0
    while try source.packets.next(into: packet) {
      defer { av_packet_unref(packet) }
      if packet.pointee.size == 0 { continue }
      // Each packet must be the next picture and nothing else.
      guard count < order.count, numbers.picture(of: packet) == count, !numbers.holdsSeveral,
        !changesParameters(packet)
      else { return false }
      let displayIndex = order.displayIndex(count)
      let shown = microseconds[displayIndex]
      packet.pointee.pts = shown
      packet.pointee.dts = decodingTime(count, order.delay, microseconds)
      // Without a duration the last picture would be at the end of the edit list, which would hide
      // it.
      packet.pointee.duration = duration(displayIndex, microseconds)
      if source.isBare {
        packet.pointee.flags = NALUnits.beginsWithKey(packet) ? AV_PKT_FLAG_KEY : 0
      }
      try muxer.write(packet)
      count += 1
    }
    guard count == order.count else { return false }
    try muxer.finish()
    return true
  }

  /// Decoding times, which strictly increase and are never after the display time: the display time
  /// `delay` pictures earlier, before the first one in steps of one.
  private static func decodingTime(_ number: Int, _ delay: Int, _ times: [Int64]) -> Int64 {
    number >= delay ? times[number - delay] : times[0] - Int64(delay - number)
  }

  private static func duration(_ displayIndex: Int, _ times: [Int64]) -> Int64 {
    if displayIndex + 1 < times.count { return times[displayIndex + 1] - times[displayIndex] }
    return displayIndex > 0 ? times[displayIndex] - times[displayIndex - 1] : 33_333
  }

  /// Whether the container changes codec parameters here, which a new file can state only once.
  private static func changesParameters(_ packet: UnsafePointer<AVPacket>) -> Bool {
    av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
  }

  /// The source of packets.
  private struct Source {
    let packets: any PacketSource
    let isBare: Bool
    /// Fills in the codec parameters; valid as long as `packets`.
    let describe: (UnsafeMutablePointer<AVCodecParameters>) -> Int32

    /// `nil` for codecs that MP4 players do not support, and for streams without parameter sets.
    init?(
      _ file: FilePath, _ container: VideoContainer, _ track: Int, ignoresEditList: Bool
    ) throws(VideoError) {
      let input = try MediaInput(file)
      isBare = try AnnexBScanner.isAnnexB(input, container)
      if isBare {
        let bare = try AnnexBPackets(input)
        guard !bare.parameterSets.isEmpty else { return nil }
        let codec = try CodecHandle(
          parameterSets: bare.parameterSets, reorderingDelay: 0, file: file, threads: 1)
        let index = try VideoIndex.read(file, container: .annexB)
        guard let size = index.tracks.first else { return nil }
        packets = bare
        describe = { parameters in
          let status = avcodec_parameters_from_context(parameters, codec.context)
          parameters.pointee.width = Int32(clamping: size.storedWidth)
          parameters.pointee.height = Int32(clamping: size.storedHeight)
          return status
        }
      } else {
        let reader = try ContainerReader(input, ignoresEditList: ignoresEditList)
        reader.analyze()
        guard let stream = reader.stream(track), let coded = stream.pointee.codecpar,
          [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC].contains(coded.pointee.codec_id),
          coded.pointee.extradata_size > 0
        else { return nil }
        packets = ContainerPackets(reader, track: track)
        describe = { avcodec_parameters_copy($0, coded) }
      }
    }
  }
}

/// A source of packets for a decoder.
protocol PacketSource: AnyObject {
  /// Reads the next packet of the track; false at the end of what can be read.
  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool
}

/// The packets of one track of a container.
final class ContainerPackets: PacketSource {
  let reader: ContainerReader
  let track: Int

  init(_ reader: ContainerReader, track: Int) {
    self.reader = reader
    self.track = track
    reader.select(track)
  }

  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool {
    while reader.next(into: packet) {
      if Int(packet.pointee.stream_index) == track { return true }
      av_packet_unref(packet)
    }
    return false
  }
}

/// The access units of a bare H.264 stream.
///
/// The ffmpeg program decodes up to 5 MB before it opens its decoder and passes the parameter sets
/// on, so that pictures before the first key frame can be decoded. This type finds them without
/// decoding.
final class AnnexBPackets: PacketSource {
  /// The first sequence and picture parameter sets of the stream, with start codes; may be empty.
  private(set) var parameterSets: [UInt8] = []

  private let reader: AnnexBReader
  private var head: [PacketHandle] = []
  private var given = 0

  init(_ input: MediaInput) throws(VideoError) {
    reader = try AnnexBReader(input)
    var bytes = 0
    while bytes < AnnexBReader.probeBytes, parameterSets.isEmpty {
      guard let handle = PacketHandle() else {
        throw VideoError(file: input.file, what: "no memory for a packet")
      }
      guard try reader.next(into: handle.packet) else { break }
      bytes += Int(handle.packet.pointee.size)
      parameterSets = Self.parameterSets(of: handle.packet)
      head.append(handle)
    }
  }

  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool {
    guard given < head.count else { return try reader.next(into: packet) }
    av_packet_move_ref(packet, head[given].packet)
    given += 1
    if given == head.count {
      head = []
      given = 0
    }
    return true
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
