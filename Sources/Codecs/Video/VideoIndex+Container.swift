import CFFmpeg
import SystemPackage

extension VideoIndex {
  /// Every video track of a container, each counted in a pass of its own, so that damage of one does not
  /// shorten another.
  static func readContainer(_ input: MediaInput) throws(VideoError) -> VideoIndex {
    var reader = try ContainerReader(input)
    let numbers = reader.videoTracks
    guard !numbers.isEmpty else {
      throw VideoError(file: input.file, what: "it has no video track")
    }
    var index = VideoIndex(tracks: [], endsEarly: false)
    for (pass, number) in numbers.enumerated() {
      if pass > 0 { reader = try ContainerReader(MediaInput(input.file)) }
      guard let stream = reader.stream(number), let codec = stream.pointee.codecpar else {
        continue
      }
      reader.select(number)
      reader.skipPayload()
      var ticks = try TickTable(reading: reader, track: number)
      ticks.sort()
      let declared = Int(avformat_index_get_entries_count(stream))
      let isIndexWhole = reader.layout.isMovie && !reader.layout.isFragmented
      if ticks.hasCutPacket || (isIndexWhole && ticks.packetCount < declared) {
        index.endsEarly = true
      }
      index.tracks.append(
        VideoTrack(
          number: number, encoding: String(cString: avcodec_get_name(codec.pointee.codec_id)),
          storedWidth: Int(codec.pointee.width), storedHeight: Int(codec.pointee.height),
          orientation: VideoOrientation(of: stream),
          timeBase: VideoTimeBase(
            numerator: Int64(stream.pointee.time_base.num),
            denominator: Int64(stream.pointee.time_base.den)),
          pictureCount: ticks.values.count,
          presentationTicks: ticks.values))
    }
    if index.tracks.allSatisfy({ $0.pictureCount == 0 }),
      let why = reader.layout.explanation(for: input)
    {
      throw why
    }
    return index
  }
}

/// The presentation times of a track's packets.
private struct TickTable {
  var values: [Int64] = []
  /// All packets, hidden ones as well.
  var packetCount = 0
  /// A packet was there in part: no picture can be made of it.
  var hasCutPacket = false

  init(reading reader: ContainerReader, track: Int) throws(VideoError) {
    guard var packet = av_packet_alloc() as UnsafeMutablePointer<AVPacket>? else {
      throw VideoError(file: reader.input.file, what: "no memory for a packet")
    }
    defer { Self.free(&packet) }
    var after: Int64 = 0
    while reader.next(into: packet) {
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == track else { continue }
      packetCount += 1
      if packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 {
        hasCutPacket = true
        continue
      }
      guard packet.pointee.flags & AV_PKT_FLAG_DISCARD == 0, packet.pointee.size > 0 else {
        continue
      }
      // Without a presentation time the decoding time serves, without both what comes after the last.
      let none = scanmill_nopts()
      let decoding = packet.pointee.dts != none ? packet.pointee.dts : after
      let time = packet.pointee.pts != none ? packet.pointee.pts : decoding
      after = time &+ max(1, packet.pointee.duration)
      values.append(time)
    }
  }

  /// Display order; most tracks without reordering are sorted already.
  mutating func sort() {
    let isSorted = zip(values, values.dropFirst()).allSatisfy { $0 <= $1 }
    if !isSorted { values.sort() }
  }

  private static func free(_ packet: inout UnsafeMutablePointer<AVPacket>) {
    var optional: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&optional)
  }
}
