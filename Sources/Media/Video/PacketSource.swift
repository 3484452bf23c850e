import CFFmpeg

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
