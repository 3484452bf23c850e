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
    let handle = try PacketHandle(file)
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
      isBare = try AnnexBReader.isAnnexB(input, container)
      if isBare {
        let bare = try AnnexBReader(input)
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
        reader.select(track)
        packets = reader
        describe = { avcodec_parameters_copy($0, coded) }
      }
    }
  }
}
